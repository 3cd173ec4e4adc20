#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::policy {

// A name that a profile grants, and why.
struct ProfileEntry {
  std::string name;  // dotted, of a module; it brings its submodules
  std::string why;
  std::string package;  // Debian's, for modules outside the standard library; may be empty
};

// What a caller chooses by name: which Python a program may contain, and how much memory it gets.
// Value type; parsed from policies/profiles/*.toml. Nothing here is a wall: those are the same for
// every profile and do not rely on it.
struct Profile {
  std::string name;
  std::string summary;   // for people, without a full stop
  std::string category;  // the key of its modules in get_sandbox_info's allowed_imports
  std::string kernel;    // what the kernel allows, for people
  std::uint64_t memory_bytes = 0;
  bool language_layer = true;  // false: every installed module, all of Python
  std::vector<ProfileEntry> modules;
  std::vector<ProfileEntry> builtins;  // granted although the language layer refuses them
  std::vector<ProfileEntry> preimports;
};

// Strict: an unknown key, an entry without a reason or without a language layer but with modules is
// an error that names the entry, the rule and the fix.
Result<Profile> ParseProfile(std::string_view name, std::string_view text);

// basic, data_science, network, filesystem, full: the files of policies/profiles, built in.
const std::vector<Profile>& Profiles();

// The profile with that name; null when there is none.
const Profile* FindProfile(std::string_view name);

// The setting that lets callers choose it: "SANDBOX_ENABLE_DATA_SCIENCE".
std::string EnableVariable(std::string_view profile);

// Whether `name` or a dotted prefix of it is in `listed`: `collections.abc` passes through
// `collections`, `urllib` does not pass through `urllib.parse`.
bool IsListed(const std::vector<std::string>& listed, std::string_view name);

}  // namespace glovebox::policy

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace glovebox::policy {

enum class RootItemKind : std::uint8_t { kBind, kDevice, kFile, kLink, kLinksIn };

// One thing the root of a box holds, as the policy file says it.
struct RootItem {
  RootItemKind kind;
  std::string path;  // absolute, where it appears; for binds and devices also where it comes from
  std::string text;  // kFile: its content; kLink: its target; kLinksIn: the prefix of names;
                     // kBind: where it comes from, if that is another path
  bool optional = false;
  bool writable = false;  // kBind only; policy files cannot say it

  const std::string& source() const { return text.empty() ? path : text; }  // kBind, kDevice
};

// A folder or file of the host that boxes may use, besides what their policy holds.
struct FolderGrant {
  std::string host_path;  // absolute
  std::string box_path;   // absolute, where it appears
  bool writable = false;
};

struct TmpfsItem {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::uint64_t inodes = 0;
};

struct RlimitItem {
  int resource = 0;  // RLIMIT_*
  std::uint64_t value = 0;
};

// What one kind of box holds and may use. Value type; parsed from policies/box/*.toml.
struct BoxPolicy {
  std::vector<RootItem> root;
  std::vector<TmpfsItem> tmpfs;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<RlimitItem> rlimits;
};

// What ${...} stands for in a policy file.
struct PolicyVariables {
  std::string python_stdlib;
  std::string python_version;
  std::string multiarch;
  std::string arch;  // entries for another `arch` are dropped
};

// Parses a policy. An unknown key, a missing `why`, a path that is not absolute or an unknown
// variable is an error that names the entry, the rule and the fix.
Result<BoxPolicy> ParseBoxPolicy(std::string_view text, const PolicyVariables& variables);

// Adds what an operator grants. A path that is not absolute or not in its shortest form, and a
// place in the box that something of the policy occupies or would hide, is an error that names
// both.
Status AddGrant(const FolderGrant& grant, BoxPolicy& policy);

}  // namespace glovebox::policy

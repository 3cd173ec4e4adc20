#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/profile.h"

namespace glovebox::policy {

// What one call gets: the union of the profiles it chose, narrowed by what it asked for.
struct ProfileChoice {
  std::vector<std::string> profiles;  // names, in the order of Profiles()
  bool language_layer = true;
  std::vector<std::string> modules;   // with a language layer; each brings its submodules
  std::vector<std::string> builtins;  // granted although the language layer refuses them
  std::uint64_t memory_bytes = 0;     // of a call that asks for no other amount

  bool has(std::string_view profile) const;
  // "basic+data_science"
  std::string name() const;
  // The kind of box it runs in: "python", with "+data_science" where modules wait imported,
  // "+filesystem" where the operator's folders are and "+network" where the allowed hosts are.
  std::string box_kind() const;
};

// Which profiles the operator lets callers choose, and what a call gets that chooses none.
struct ProfileOffer {
  std::vector<std::string> enabled = {};  // names of Profiles(), in any order
  std::string default_profile =
      {};  // as Choose takes it; empty: basic and what is enabled beside it
  std::vector<std::string> allowed_imports =
      {};  // not empty: replaces the modules of every profile
  std::optional<std::uint64_t> memory_bytes = {};  // instead of every profile's own amount
  std::uint64_t memory_bytes_max = UINT64_MAX;

  bool is_enabled(std::string_view profile) const;

  // The default must be a choice that a caller could make. kInvalidArgument is a sentence for the
  // operator.
  Status Check() const;

  // `profile`: names joined by "+" or ",", empty for the default; basic comes with every other but
  // full. `allowed_imports`: empty, or the
  // only modules the call wants; those the profile does not have are left out. kInvalidArgument is
  // a rule as in "must be <rule>"; kUnsupported is a sentence: the profile exists and cannot be
  // had.
  Result<ProfileChoice> Choose(std::string_view profile,
                               const std::vector<std::string>& allowed_imports) const;

  // What a call gets that asks for nothing. Only after Check.
  ProfileChoice Default() const;

  // For modules outside `choice`: what would allow each, as far as this server can.
  std::vector<std::pair<std::string, std::string>> Remedies(const ProfileChoice& choice) const;
};

}  // namespace glovebox::policy

#include "policy/profile_offer.h"

#include <algorithm>

#include "base/text.h"

namespace glovebox::policy {
namespace {

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Joined(const std::vector<std::string>& names, std::string_view separator) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : std::string(separator)) + name;
  return text;
}

std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view part : Split(text, ',')) {
    for (const std::string_view piece : Split(part, '+')) {
      if (const std::string_view name = Trim(piece); !name.empty()) names.emplace_back(name);
    }
  }
  return names;
}

void AddNames(const std::vector<ProfileEntry>& entries, std::vector<std::string>& names) {
  for (const ProfileEntry& entry : entries) {
    if (!Contains(names, entry.name)) names.push_back(entry.name);
  }
}

// What a call gets that names no profile: without a way out, the network one would only be in the
// way.
std::vector<std::string> OrdinaryDefault(const ProfileOffer& offer) {
  std::vector<std::string> names = {"basic"};
  for (const Profile& profile : Profiles()) {
    const bool beside = profile.name != "basic" && profile.name != "network";
    if (beside && profile.language_layer && offer.is_enabled(profile.name)) {
      names.push_back(profile.name);
    }
  }
  return names;
}

ProfileChoice Combine(const ProfileOffer& offer, const std::vector<std::string>& names) {
  ProfileChoice choice;
  const bool layered = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return FindProfile(name)->language_layer;
  });
  for (const Profile& profile : Profiles()) {
    // What a profile adds is of use only beside ordinary Python; one without the layer has that.
    const bool implied = layered && profile.name == "basic";
    if (!implied && !Contains(names, profile.name)) continue;
    choice.profiles.push_back(profile.name);
    choice.language_layer = choice.language_layer && profile.language_layer;
    AddNames(profile.modules, choice.modules);
    AddNames(profile.builtins, choice.builtins);
    choice.memory_bytes = std::max(choice.memory_bytes, profile.memory_bytes);
  }
  if (!offer.allowed_imports.empty()) choice.modules = offer.allowed_imports;
  choice.memory_bytes =
      std::min(offer.memory_bytes.value_or(choice.memory_bytes), offer.memory_bytes_max);
  if (!choice.language_layer) {
    choice.modules.clear();
    choice.builtins.clear();
  }
  return choice;
}

}  // namespace

bool ProfileChoice::has(std::string_view profile) const { return Contains(profiles, profile); }

std::string ProfileChoice::name() const { return Joined(profiles, "+"); }

std::string ProfileChoice::box_kind() const {
  std::string kind = "python";
  for (const char* profile : {"data_science", "filesystem", "network"}) {
    if (has(profile)) kind.append("+").append(profile);
  }
  return kind;
}

bool ProfileOffer::is_enabled(std::string_view profile) const { return Contains(enabled, profile); }

Status ProfileOffer::Check() const {
  Result<ProfileChoice> choice = Choose("", {});
  if (choice) return {};
  const bool rule = choice.error().code() == Errc::kInvalidArgument;
  return Error(Errc::kInvalidArgument, "SANDBOX_DEFAULT_PROFILE " +
                                           std::string(rule ? "must be " : "cannot be: ") +
                                           choice.error().message());
}

Result<ProfileChoice> ProfileOffer::Choose(std::string_view profile,
                                           const std::vector<std::string>& wanted) const {
  std::vector<std::string> names = SplitNames(profile);
  if (names.empty()) names = SplitNames(default_profile);
  if (names.empty()) names = OrdinaryDefault(*this);
  for (const std::string& name : names) {
    if (FindProfile(name) == nullptr || !is_enabled(name)) {
      std::string rule = "one of " + Joined(enabled, ", ") + ", or several joined by +";
      if (FindProfile(name) != nullptr) rule += " ('" + name + "' is not enabled on this server)";
      return Error(Errc::kInvalidArgument, rule);
    }
  }
  ProfileChoice choice = Combine(*this, names);
  if (wanted.empty()) return choice;
  if (!choice.language_layer) {
    return Error(Errc::kInvalidArgument,
                 "left out with the profile 'full', which has every module; choose another profile "
                 "to narrow");
  }
  std::vector<std::string> narrowed;
  for (const std::string& name : wanted) {
    if (IsListed(choice.modules, name)) narrowed.push_back(name);
  }
  choice.modules = std::move(narrowed);
  return choice;
}

ProfileChoice ProfileOffer::Default() const {
  Result<ProfileChoice> choice = Choose("", {});
  CHECK(choice.ok());
  return std::move(*choice);
}

std::vector<std::pair<std::string, std::string>> ProfileOffer::Remedies(
    const ProfileChoice& choice) const {
  std::vector<std::pair<std::string, std::string>> remedies;
  if (!choice.language_layer || !allowed_imports.empty()) return remedies;
  for (const Profile& profile : Profiles()) {
    for (const ProfileEntry& module : profile.modules) {
      if (IsListed(choice.modules, module.name)) continue;
      const bool can_be_had = is_enabled(profile.name);
      remedies.emplace_back(module.name, can_be_had
                                             ? "profile '" + profile.name + "'"
                                             : "the operator's " + EnableVariable(profile.name));
    }
  }
  return remedies;
}

}  // namespace glovebox::policy

#include "app/command_profile.h"

#include <utility>

#include "policy/profile.h"
#include "tools/language_policy.h"

namespace glovebox {

Result<CommandProfile> ChooseCommandProfile(const std::string& name) {
  policy::ProfileOffer offer;
  for (const policy::Profile& profile : policy::Profiles()) offer.enabled.push_back(profile.name);
  Result<policy::ProfileChoice> choice = offer.Choose(name, {});
  if (!choice) {
    const bool rule = choice.error().code() == Errc::kInvalidArgument;
    return Error(Errc::kInvalidArgument,
                 (rule ? "--profile must be " : "--profile: ") + choice.error().message());
  }
  wire::LanguagePolicy language = LanguagePolicyOf(*choice, offer);
  return CommandProfile{std::move(*choice), std::move(language)};
}

}  // namespace glovebox

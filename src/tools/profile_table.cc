#include "tools/profile_table.h"

#include <utility>

#include "tools/language_policy.h"

namespace glovebox {
namespace {

Result<std::shared_ptr<const ChosenProfile>> WorkOut(const policy::ProfileOffer& offer,
                                                     std::string_view profile,
                                                     const std::vector<std::string>& imports) {
  policy::ProfileChoice choice = TRY(offer.Choose(profile, imports));
  wire::LanguagePolicy language = LanguagePolicyOf(choice, offer);
  return std::make_shared<const ChosenProfile>(std::move(choice), std::move(language));
}

}  // namespace

ProfileTable::ProfileTable(policy::ProfileOffer offer) : offer_(std::move(offer)) {
  std::vector<std::string> names = offer_.enabled;
  names.emplace_back();  // the default
  for (const std::string& name : names) {
    auto chosen = WorkOut(offer_, name, {});
    if (chosen) worked_out_.emplace(name, std::move(*chosen));
  }
}

Result<std::shared_ptr<const ChosenProfile>> ProfileTable::Choose(
    std::string_view profile, const std::vector<std::string>& allowed_imports) const {
  const auto found = worked_out_.find(profile);
  if (allowed_imports.empty() && found != worked_out_.end()) return found->second;
  return WorkOut(offer_, profile, allowed_imports);
}

}  // namespace glovebox

#include "tools/language_policy.h"

namespace glovebox {

wire::LanguagePolicy LanguagePolicyOf(const policy::ProfileChoice& choice,
                                      const policy::ProfileOffer& offer) {
  wire::LanguagePolicy language;
  language.enabled = choice.language_layer;
  if (!language.enabled) return language;
  language.profile = choice.name();
  language.modules = wire::WordList::Of(choice.modules);
  language.builtins = wire::WordList::Of(choice.builtins);
  for (const auto& [module, remedy] : offer.Remedies(choice)) {
    language.remedies.Add(module);
    language.remedies.Add(remedy);
  }
  return language;
}

}  // namespace glovebox

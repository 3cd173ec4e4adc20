#include "tools/language_policy.h"

namespace glovebox {

wire::LanguagePolicy LanguagePolicyOf(const policy::ProfileChoice& choice,
                                      const policy::ProfileOffer& offer) {
  wire::LanguagePolicy language;
  language.enabled = choice.language_layer;
  if (!language.enabled) return language;
  language.profile = choice.name();
  language.modules = choice.modules;
  language.builtins = choice.builtins;
  language.remedies = offer.Remedies(choice);
  return language;
}

}  // namespace glovebox

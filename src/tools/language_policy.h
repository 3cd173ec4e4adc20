#pragma once

#include "policy/profile_offer.h"
#include "python/wire/language.h"

namespace glovebox {

// The language layer's part of what a call chose among the profiles of `offer`.
wire::LanguagePolicy LanguagePolicyOf(const policy::ProfileChoice& choice,
                                      const policy::ProfileOffer& offer);

}  // namespace glovebox

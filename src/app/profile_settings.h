#pragma once

#include <vector>

#include "app/configuration.h"
#include "base/result.h"
#include "executor/box_kind.h"
#include "policy/profile_offer.h"

namespace glovebox {

// Which profiles the settings offer to callers. Not checked: Configure does that.
policy::ProfileOffer OfferOf(const Configuration& configuration);

// A kind of box for every combination of enabled profiles that needs one of its own, the plain one
// first; ProfileChoice::box_kind() names them. Looks at the host: a folder that is not there, or a
// path that is not absolute, is kInvalidArgument, in a sentence with the setting.
Result<std::vector<BoxKind>> BoxKindsOf(const ServeSettings& settings);

}  // namespace glovebox

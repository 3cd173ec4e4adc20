#pragma once

#include "base/result.h"
#include "policy/box_policy.h"

namespace glovebox::sandbox {

// policies/box/egress.toml as built into this program.
Result<policy::BoxPolicy> EgressBoxPolicy();

}  // namespace glovebox::sandbox

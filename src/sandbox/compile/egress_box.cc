#include "sandbox/compile/egress_box.h"

#include "embedded/box_policies.h"

namespace glovebox::sandbox {

Result<policy::BoxPolicy> EgressBoxPolicy() {
  return policy::ParseBoxPolicy(embedded::kEgressBox, {.python_stdlib = {},
                                                       .python_version = {},
                                                       .multiarch = GLOVEBOX_MULTIARCH,
                                                       .arch = GLOVEBOX_ARCH});
}

}  // namespace glovebox::sandbox

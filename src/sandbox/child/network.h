#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// In a network namespace that is the caller's own: lo up, listeners on the ports of the plan, sent
// as one message of one byte over `plan.report_fd` and closed here. Nothing without a report_fd.
// Needs CAP_NET_ADMIN and, for ports below 1024, CAP_NET_BIND_SERVICE over that namespace.
int RaiseNetwork(const NetworkPlan& plan) noexcept;

}  // namespace glovebox::sandbox

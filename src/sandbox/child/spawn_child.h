#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// The whole life of a child of the server between clone3 and exec. Never returns: execs, or writes
// one ChildFailure to plan.failure_fd and ends.
[[noreturn]] void SpawnChild(const SpawnPlan& plan) noexcept;

}  // namespace glovebox::sandbox

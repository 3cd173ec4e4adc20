#pragma once

#include "sandbox/plan/jail_plan.h"

namespace glovebox::sandbox {

// PID 1 of a jail: builds the root, gives everything up, starts the program and waits for its end.
// Ends in _exit.
[[noreturn]] void JailChild(const JailPlan& plan) noexcept;

}  // namespace glovebox::sandbox

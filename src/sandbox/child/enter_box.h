#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// What the future init of a box does to itself, before it forks Python: everything that needs
// privilege. Afterwards the process has a throw-away uid, no capabilities and no way back.
ChildFailure EnterBox(const BoxPlan& plan) noexcept;

// What Python does to itself last: process flags, Landlock, seccomp. Nothing of ours runs
// afterwards that the filter does not list. `listener_fd`: see ApplyFilter; -1 without the filter.
ChildFailure LockPython(const BoxPlan& plan, int* listener_fd) noexcept;

}  // namespace glovebox::sandbox

#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// What the future init of a box does to itself, before it forks Python: everything that needs
// privilege. Afterwards the process has a throw-away uid, no capabilities and no way back.
ChildFailure EnterBox(const BoxPlan& plan) noexcept;

// The rules of Landlock as a descriptor, for LockPython; -1 where that wall is down. Apart from it,
// because paths that were opened ahead are gone when other descriptors have been closed.
ChildFailure MakeRules(const BoxPlan& plan, int* ruleset_fd) noexcept;

// What Python does to itself last: process flags, Landlock, seccomp. Nothing of ours runs
// afterwards that the filter does not list. Closes `ruleset_fd`. `listener_fd`: see ApplyFilter; -1
// without the filter.
ChildFailure LockPython(const BoxPlan& plan, int ruleset_fd, int* listener_fd) noexcept;

}  // namespace glovebox::sandbox

#pragma once

#include <cstdint>

#include "base/result.h"
#include "sandbox/parent/spawn.h"
#include "sandbox/plan/jail_plan.h"

namespace glovebox::sandbox {

// The init of a jail, in new `namespaces` and born into a v2 cgroup (-1: ours); it waits for the
// byte of `plan.parent_ready_fd`, whose other end `ready_write_fd` is. `plan` and what it points
// into must live until the program runs.
Result<Process> CloneJail(std::uint64_t namespaces, int cgroup_fd, int ready_write_fd,
                          const JailPlan& plan);

}  // namespace glovebox::sandbox

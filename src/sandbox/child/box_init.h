#pragma once

#include "sandbox/plan/child_plan.h"
#include "sandbox/plan/init_plan.h"

namespace glovebox::sandbox {

// For kGroup, before the fork: orphans of the box come to us, and SIGTERM, from the server or from
// the kernel at the death of `zygote`, waits until init takes it as the order to end the box.
int AdoptOrphans(pid_t zygote) noexcept;

// For kGroup, on both sides of the fork, so that it holds whoever runs first.
int LeadGroup(pid_t python_pid) noexcept;

// Becomes glovebox-init (`program_fd`), which takes the rest of its life from `plan`. It has
// `status_fd` and, until it is out of the box's reach, the write end of a pipe, `started_fd`.
// Returns only to say why it cannot: an errno value.
int BecomeInitProgram(int program_fd, int status_fd, int started_fd, const InitPlan& plan) noexcept;

// Python's side of that pipe: waits for init's word. False when init ended without it.
bool AwaitInit(int started_fd) noexcept;

// Writes one record; for the set-up phase, before there is an init.
void ReportStatus(int status_fd, const StatusRecord& record) noexcept;

}  // namespace glovebox::sandbox

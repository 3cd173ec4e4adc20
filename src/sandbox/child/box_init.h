#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

enum class PidScope : std::uint8_t {
  kOwn,    // a PID namespace: the box is everything that init can see
  kGroup,  // the host's ids: the box is Python's process group, which nobody in it can leave
  kHost,   // the host's ids, and nothing to tell the box by (test seam): nothing is killed
};

// For kGroup, before the fork: orphans of the box come to us, and SIGTERM, from the server or from
// the kernel at the death of `zygote`, waits until RunInit takes it as the order to end the box.
int AdoptOrphans(pid_t zygote) noexcept;

// For kGroup, on both sides of the fork, so that it holds whoever runs first.
int LeadGroup(pid_t python_pid) noexcept;

// The rest of the life of a box's init: holds nothing but `status_fd`, reaps, and when
// `python_pid` has ended kills what is left, reports how Python ended and ends itself, which ends
// the PID namespace.
[[noreturn]] void RunInit(int status_fd, pid_t python_pid, PidScope scope) noexcept;

// Writes one record; for the set-up phase, before RunInit.
void ReportStatus(int status_fd, const StatusRecord& record) noexcept;

}  // namespace glovebox::sandbox

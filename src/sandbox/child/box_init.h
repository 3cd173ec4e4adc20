#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

enum class PidScope : bool { kHost, kOwn };

// The rest of the life of a box's init: holds nothing but `status_fd`, reaps, and when
// `python_pid` has ended kills what is left, reports how Python ended and ends itself, which ends
// the PID namespace. With PidScope::kHost (test seam) it kills nothing: the numbers are the host's.
[[noreturn]] void RunInit(int status_fd, pid_t python_pid, PidScope scope) noexcept;

// Writes one record; for the set-up phase, before RunInit.
void ReportStatus(int status_fd, const StatusRecord& record) noexcept;

}  // namespace glovebox::sandbox

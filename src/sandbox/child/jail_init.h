#pragma once

#include "sandbox/plan/jail_plan.h"

namespace glovebox::sandbox {

// The rest of the life of a jail's init: holds nothing but `status_fd`, reaps, and when `program`
// has ended notes and kills what it left behind, reports, and ends itself, which ends the PID
// namespace.
[[noreturn]] void RunJailInit(int status_fd, pid_t program) noexcept;

}  // namespace glovebox::sandbox

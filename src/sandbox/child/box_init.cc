#include "sandbox/child/box_init.h"

#include <sys/prctl.h>

#include <csignal>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {

AFTER_FORK void ReportStatus(int status_fd, const StatusRecord& record) noexcept {
  const long ignored = syscall(SYS_write, status_fd, &record, sizeof(record));
  static_cast<void>(ignored);  // nobody left to tell
}

AFTER_FORK int AdoptOrphans(pid_t zygote) noexcept {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return errno;
  if (syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &kInitSignals, nullptr, sizeof(kInitSignals)) <
      0) {
    return errno;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0) return errno;
  return syscall(SYS_getppid) == zygote ? 0 : ESRCH;  // it died before we had asked
}

AFTER_FORK int LeadGroup(pid_t python_pid) noexcept {
  return ErrnoOf(syscall(SYS_setpgid, python_pid, python_pid));
}

AFTER_FORK int BecomeInitProgram(int program_fd, int status_fd, int started_fd,
                                 const InitPlan& plan) noexcept {
  InitArgument argument = Encode(plan);
  char name[] = "glovebox-init";
  char* const argv[] = {name, argument.text, nullptr};
  char* const envp[] = {nullptr};
  if (syscall(SYS_dup3, status_fd, kInitStatusFd, 0) < 0) return errno;
  if (syscall(SYS_dup3, started_fd, kInitStartedFd, 0) < 0) return errno;
  if (syscall(kSysCloseRange, kInitStartedFd + 1, ~0u, kCloseRangeCloexec) < 0) return errno;
  syscall(SYS_execveat, program_fd, "", argv, envp, kAtEmptyPath);
  return errno;
}

AFTER_FORK bool AwaitInit(int started_fd) noexcept {
  char byte = 0;
  long got = 0;
  do {
    got = syscall(SYS_read, started_fd, &byte, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

}  // namespace glovebox::sandbox

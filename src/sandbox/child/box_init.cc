#include "sandbox/child/box_init.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

AFTER_FORK std::uint64_t Microseconds(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

// Reaps until `python_pid` is among the dead; orphans of the box come by and are forgotten.
AFTER_FORK StatusRecord AwaitPython(pid_t python_pid) noexcept {
  StatusRecord record = {};
  record.kind = StatusKind::kEnded;
  while (true) {
    int status = 0;
    rusage usage = {};
    const long pid = syscall(SYS_wait4, -1, &status, __WALL, &usage);
    if (pid == python_pid) {
      record.wait_status = status;
      record.cpu_us = Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime);
      return record;
    }
    if (pid < 0 && errno != EINTR) {  // unreachable while Python is our child
      record.wait_status = SIGKILL;
      return record;
    }
  }
}

}  // namespace

AFTER_FORK void ReportStatus(int status_fd, const StatusRecord& record) noexcept {
  const long ignored = syscall(SYS_write, status_fd, &record, sizeof(record));
  static_cast<void>(ignored);  // nobody left to tell
}

AFTER_FORK void RunInit(int status_fd, pid_t python_pid, PidScope scope) noexcept {
  const DescriptorMove keep = {status_fd, 0};
  ArrangeDescriptors(&keep, 1, 1);
  const StatusRecord record = AwaitPython(python_pid);
  if (scope == PidScope::kOwn) {
    syscall(SYS_kill, -1, SIGKILL);
    while (syscall(SYS_wait4, -1, nullptr, __WALL, nullptr) > 0 || errno == EINTR) {
    }
  }
  ReportStatus(0, record);
  _exit(0);
}

}  // namespace glovebox::sandbox

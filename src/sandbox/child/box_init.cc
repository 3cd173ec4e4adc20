#include "sandbox/child/box_init.h"

#include <sys/prctl.h>
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

constexpr std::uint64_t SignalBit(int signal) noexcept { return 1ull << (signal - 1); }
constexpr std::uint64_t kWatched = SignalBit(SIGCHLD) | SignalBit(SIGTERM);

// The next child that has ended, not yet reaped. In a group of the host's, an order to end the box
// comes by signal meanwhile.
AFTER_FORK pid_t NextInGroup(pid_t python_pid) noexcept {
  while (true) {
    siginfo_t ended = {};
    constexpr int kPeek = WEXITED | WNOWAIT | WNOHANG | __WALL;
    if (syscall(SYS_waitid, P_ALL, 0, &ended, kPeek, nullptr) < 0 && errno != EINTR) return -1;
    if (ended.si_pid != 0) return ended.si_pid;
    const long signal = syscall(SYS_rt_sigtimedwait, &kWatched, nullptr, nullptr, sizeof(kWatched));
    if (signal == SIGTERM) syscall(SYS_kill, -python_pid, SIGKILL);
  }
}

// Reaps until `python_pid` is among the dead; orphans of the box come by and are forgotten.
AFTER_FORK StatusRecord AwaitPython(pid_t python_pid, PidScope scope) noexcept {
  StatusRecord record = {};
  record.kind = StatusKind::kEnded;
  while (true) {
    const pid_t next = scope == PidScope::kGroup ? NextInGroup(python_pid) : -1;
    // While Python is not reaped its number, and so the group's, is nobody else's. A killed group
    // takes nobody in: a fork under way fails, or its child is killed with the rest.
    if (next == python_pid) syscall(SYS_kill, -python_pid, SIGKILL);
    int status = 0;
    rusage usage = {};
    const long pid = syscall(SYS_wait4, next, &status, __WALL, &usage);
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

AFTER_FORK void ReapTheRest() noexcept {
  while (syscall(SYS_wait4, -1, nullptr, __WALL, nullptr) > 0 || errno == EINTR) {
  }
}

}  // namespace

AFTER_FORK void ReportStatus(int status_fd, const StatusRecord& record) noexcept {
  const long ignored = syscall(SYS_write, status_fd, &record, sizeof(record));
  static_cast<void>(ignored);  // nobody left to tell
}

AFTER_FORK int AdoptOrphans(pid_t zygote) noexcept {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return errno;
  if (syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &kWatched, nullptr, sizeof(kWatched)) < 0) {
    return errno;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0) return errno;
  return syscall(SYS_getppid) == zygote ? 0 : ESRCH;  // it died before we had asked
}

AFTER_FORK int LeadGroup(pid_t python_pid) noexcept {
  return ErrnoOf(syscall(SYS_setpgid, python_pid, python_pid));
}

AFTER_FORK void RunInit(int status_fd, pid_t python_pid, PidScope scope) noexcept {
  const DescriptorMove keep = {status_fd, 0};
  ArrangeDescriptors(&keep, 1, 1);
  const StatusRecord record = AwaitPython(python_pid, scope);
  if (scope == PidScope::kOwn) syscall(SYS_kill, -1, SIGKILL);
  if (scope != PidScope::kHost) ReapTheRest();
  ReportStatus(0, record);
  _exit(0);
}

}  // namespace glovebox::sandbox

#include "sandbox/child/jail_child.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>
#include <cstring>
#include <iterator>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/enter_box.h"
#include "sandbox/child/identity.h"
#include "sandbox/child/jail_init.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/mounts.h"
#include "sandbox/child/syscalls.h"
#include "sandbox/plan/walls.h"

namespace glovebox::sandbox {
namespace {

AFTER_FORK ChildFailure DieWithParent(const JailPlan&) noexcept {
  return Check(ChildStage::kDieWithParent,
               prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 ? 0 : errno);
}

// The parent's death closes the pipe: end-of-file here means there is nobody left to obey.
AFTER_FORK ChildFailure WaitForParent(const JailPlan& plan) noexcept {
  char byte = 0;
  const long got = syscall(SYS_read, plan.parent_ready_fd, &byte, 1);
  return Check(ChildStage::kWaitForParent, got == 1 ? 0 : (got == 0 ? EPIPE : errno));
}

AFTER_FORK ChildFailure Signals(const JailPlan&) noexcept {
  ResetSignalActions();
  return Check(ChildStage::kSignals, ClearSignalMask());
}

// Out of the terminal's reach: no controlling tty to type into.
AFTER_FORK ChildFailure NewSession(const JailPlan&) noexcept {
  return Check(ChildStage::kNewSession, setsid() >= 0 ? 0 : errno);
}

AFTER_FORK ChildFailure MountSources(const JailPlan& plan) noexcept {
  if (const int error = MakeMountsPrivate(); error != 0) {
    return Check(ChildStage::kMountSources, error);
  }
  std::uint16_t detail = 0;
  const int error = OpenRootSources(plan.root, &detail);
  return Check(ChildStage::kMountSources, error, detail);
}

AFTER_FORK ChildFailure Identity(const JailPlan& plan) noexcept {
  if (!plan.switch_identity) return {};
  if (plan.kept_capabilities != 0) {
    const int error = KeepCapabilities(plan.kept_capabilities);
    if (error != 0) return Check(ChildStage::kCapabilities, error);
  }
  if (const int error = BecomeUser(plan.first_uid); error != 0) {
    return Check(ChildStage::kIdentity, error);
  }
  if (plan.kept_capabilities != 0) {
    const int error = RaiseCapabilities(plan.kept_capabilities);
    if (error != 0) return Check(ChildStage::kCapabilities, error);
  }
  return DieWithParent(plan);  // the change of ids cleared it
}

AFTER_FORK ChildFailure Root(const JailPlan& plan) noexcept { return BuildAndPivotRoot(plan.root); }

AFTER_FORK ChildFailure Box(const JailPlan& plan) noexcept {
  if (const ChildFailure failure = EnterBox(plan.box); failure.failed()) return failure;
  return DieWithParent(plan);  // so did this one
}

// The order is the argument (docs/threat-model.md, "Entering the box"), as in spawn_child.cc and
// enter_box.cc, which these steps follow one after the other.
using Step = ChildFailure (*)(const JailPlan&) noexcept;
constexpr Step kInitSteps[] = {&DieWithParent, &WaitForParent, &Signals, &NewSession,
                               &MountSources,  &Identity,      &Root,    &Box};

// ---- the program's own process ------------------------------------------------------------------

AFTER_FORK int Open(const char* path, int flags) noexcept {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd < 0) return errno;
  syscall(SYS_close, fd);
  return 0;
}

AFTER_FORK int TryToWrite(const char* path) noexcept {
  int error = Open(path, O_WRONLY);
  if (error != EISDIR) return error;
  // A file without a name is the least that can be made in a folder: nothing of it is ever seen.
  error = Open(path, O_TMPFILE | O_WRONLY);
  if (error != EOPNOTSUPP && error != EISDIR) return error;
  return ErrnoOf(syscall(SYS_faccessat, AT_FDCWD, path, W_OK));
}

AFTER_FORK int Prove(const PathProbe& probe) noexcept {
  switch (probe.proof) {
    case PathProof::kReadable: return Open(probe.path, O_RDONLY);
    case PathProof::kWritable: return TryToWrite(probe.path);
    case PathProof::kReadOnly:
      if (const int error = Open(probe.path, O_RDONLY); error != 0) return error;
      return TryToWrite(probe.path) == 0 ? ENOTRECOVERABLE : 0;
    case PathProof::kRefused: return Open(probe.path, O_RDONLY) == 0 ? ENOTRECOVERABLE : 0;
  }
  return EINVAL;
}

AFTER_FORK ChildFailure ProveGrants(const JailPlan& plan) noexcept {
  for (std::uint16_t i = 0; i < plan.probe_count; ++i) {
    if (const int error = Prove(plan.probes[i]); error != 0) {
      return Check(ChildStage::kProbe, error, i);
    }
  }
  return {};
}

// Says that the filter is on and hands over its listener, -1 for none. The kernel adds who we are.
AFTER_FORK int SendListener(int socket_fd, int listener_fd) noexcept {
  char byte = 'L';
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (listener_fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &listener_fd, sizeof(int));
  }
  return ErrnoOf(syscall(SYS_sendmsg, socket_fd, &message, MSG_NOSIGNAL));
}

AFTER_FORK int InstallFilter(const JailPlan& plan, int* listener_fd) noexcept {
  const sock_fprog program = {plan.box.filter_length, const_cast<sock_filter*>(plan.box.filter)};
  // A signal must not interrupt a call that the supervisor is answering; see ApplyFilter.
  constexpr unsigned long kExtras[] = {1ul << 5 /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV */, 0};
  for (const unsigned long extra : kExtras) {
    const long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            SECCOMP_FILTER_FLAG_NEW_LISTENER | extra, &program);
    *listener_fd = static_cast<int>(fd);
    if (fd >= 0) return 0;
    if (errno != EINVAL) break;
  }
  if (errno != EBUSY) return errno;
  const sock_fprog quiet = {plan.unobserved_filter_length,
                            const_cast<sock_filter*>(plan.unobserved_filter)};
  return ErrnoOf(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &quiet));
}

AFTER_FORK ChildFailure Lock(const JailPlan& plan) noexcept {
  if (!plan.writable_code) {
    if (const int error = RefuseWritableCode(); error != 0) {
      return Check(ChildStage::kProcessFlags, error);
    }
  }
  std::uint16_t detail = 0;
  if (const int error = ApplyLandlock(plan.box.landlock, &detail); error != 0) {
    return Check(ChildStage::kLandlock, error, detail);
  }
  if (const ChildFailure failure = ProveGrants(plan); failure.failed()) return failure;
  int listener_fd = -1;
  if (const int error = InstallFilter(plan, &listener_fd); error != 0) {
    return Check(ChildStage::kSeccomp, error);
  }
  // All our descriptors are close-on-exec, the listener too.
  return Check(ChildStage::kSeccomp, SendListener(plan.listener_socket, listener_fd));
}

AFTER_FORK ChildFailure StandardDescriptors(const JailPlan& plan) noexcept {
  const int sources[] = {plan.input_fd, plan.output_fd, plan.error_fd};
  for (int target = 0; target < 3; ++target) {
    if (syscall(SYS_dup3, sources[target], target, 0) < 0) {
      return Check(ChildStage::kDescriptors, errno);
    }
  }
  return Check(ChildStage::kDescriptors,
               ErrnoOf(syscall(kSysCloseRange, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */)));
}

[[noreturn]] AFTER_FORK void Fail(const JailPlan& plan, const ChildFailure& failure) noexcept {
  const long ignored = syscall(SYS_write, plan.failure_fd, &failure, sizeof(failure));
  static_cast<void>(ignored);  // the parent then reports a death without a word
  _exit(126);
}

[[noreturn]] AFTER_FORK void BecomeProgram(const JailPlan& plan) noexcept {
  if (const ChildFailure failure = StandardDescriptors(plan); failure.failed()) {
    Fail(plan, failure);
  }
  if (const ChildFailure failure = Lock(plan); failure.failed()) Fail(plan, failure);
  execve(plan.executable, plan.argv, plan.envp);
  Fail(plan, Check(ChildStage::kExec, errno));
}

}  // namespace

AFTER_FORK void JailChild(const JailPlan& plan) noexcept {
  for (const Step step : kInitSteps) {
    if (const ChildFailure failure = step(plan); failure.failed()) Fail(plan, failure);
  }
  // A raw clone: there is nothing of libc's to put right in a process that only makes system calls.
  const long program = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (program < 0) Fail(plan, Check(ChildStage::kFork, errno));
  if (program == 0) BecomeProgram(plan);
  RunJailInit(plan.status_fd, static_cast<pid_t>(program));
}

}  // namespace glovebox::sandbox

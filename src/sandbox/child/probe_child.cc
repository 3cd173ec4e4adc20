#include "sandbox/child/probe_child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstring>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/identity.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

constexpr char kInnerMap[] = "1000 0 1";  // as a box's own (python/zygote/box.cc)
constexpr char kHostName[] = "box";
constexpr long kNoArgument = 16;  // an address where nothing is

AFTER_FORK void Report(const ProbePlan& plan, const ChildFailure& record) noexcept {
  const long ignored = syscall(SYS_write, plan.report_fd, &record, sizeof(record));
  static_cast<void>(ignored);  // nobody left to tell
}

AFTER_FORK ChildFailure WaitForParent(const ProbePlan& plan) noexcept {
  if (plan.parent_ready_fd < 0) return {};
  char byte = 0;
  const long got = syscall(SYS_read, plan.parent_ready_fd, &byte, 1);
  return Check(ChildStage::kWaitForParent, got == 1 ? 0 : (got == 0 ? EPIPE : errno));
}

// Where a security module lets everybody make a user namespace and nobody use it, the first
// capability that is needed says so.
AFTER_FORK ChildFailure TryIdentity() noexcept {
  if (const int error = EnterUserNamespace(kInnerMap); error != 0) {
    return Check(ChildStage::kUserNamespace, error);
  }
  return Check(ChildStage::kCapabilities,
               prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0) == 0 ? 0 : errno);
}

AFTER_FORK ChildFailure TryLimits(const ProbePlan& plan) noexcept {
  std::uint16_t detail = 0;
  const int error = SetLimits(plan.limits, plan.limit_count, &detail);
  return Check(ChildStage::kLimits, error, detail);
}

AFTER_FORK ChildFailure TryLandlock(const ProbePlan& plan) noexcept {
  if (const int error = SetNoNewPrivs(); error != 0) return Check(ChildStage::kNoNewPrivs, error);
  std::uint16_t detail = 0;
  if (const int error = ApplyLandlock(plan.landlock, &detail); error != 0) {
    return Check(ChildStage::kLandlock, error);
  }
  const long fd = syscall(SYS_openat, AT_FDCWD, plan.readable_file, O_RDONLY | O_CLOEXEC);
  return fd < 0 && errno == EACCES ? ChildFailure{} : ChildFailure{ChildStage::kLandlock, 0, 0, 0};
}

// The number of the listener goes first: its owner must be there to answer the call.
AFTER_FORK ChildFailure TryFilter(const ProbePlan& plan) noexcept {
  if (const int error = SetNoNewPrivs(); error != 0) return Check(ChildStage::kNoNewPrivs, error);
  int listener_fd = -1;
  if (const int error = ApplyFilter(plan.filter, plan.filter_length, &listener_fd); error != 0) {
    return Check(ChildStage::kSeccomp, error);
  }
  Report(plan, {ChildStage::kNone, 0, 0, listener_fd});
  if (syscall(plan.refused_call, kNoArgument) == 0) return {ChildStage::kSeccomp, 0, 0, 0};
  // Without a listener the kernel itself answers, and always so.
  return errno == (listener_fd >= 0 ? plan.refused_error : ENOSYS)
             ? ChildFailure{}
             : Check(ChildStage::kSeccomp, errno);
}

// As a zygote without a user namespace, and then as its box.
AFTER_FORK ChildFailure TryHostUid(const ProbePlan& plan) noexcept {
  if (const int error = KeepCapabilities(plan.kept_capabilities); error != 0) {
    return Check(ChildStage::kCapabilities, error);
  }
  if (const int error = BecomeUser(plan.host_uid); error != 0) {
    return Check(ChildStage::kIdentity, error);
  }
  if (const int error = RaiseCapabilities(plan.kept_capabilities); error != 0) {
    return Check(ChildStage::kCapabilities, error);
  }
  const bool with_mounts = (plan.kept_capabilities >> CAP_SYS_ADMIN & 1) != 0;
  if (with_mounts && syscall(SYS_unshare, CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) != 0) {
    return Check(ChildStage::kNamespaces, errno);
  }
  return Check(ChildStage::kCapabilities, DropCapabilities());
}

AFTER_FORK ChildFailure Try(const ProbePlan& plan) noexcept {
  switch (plan.act) {
    case ProbeAct::kExist: return {};
    case ProbeAct::kIdentity: return TryIdentity();
    case ProbeAct::kFirstPid:
      return syscall(SYS_getpid) == 1 ? ChildFailure{}
                                      : ChildFailure{ChildStage::kNamespaces, 0, 0, 0};
    case ProbeAct::kHostName:
      return Check(ChildStage::kHostName,
                   ErrnoOf(syscall(SYS_sethostname, kHostName, strlen(kHostName))));
    case ProbeAct::kLimits: return TryLimits(plan);
    case ProbeAct::kLandlock: return TryLandlock(plan);
    case ProbeAct::kFilter: return TryFilter(plan);
    case ProbeAct::kHostUid: return TryHostUid(plan);
  }
  return Check(ChildStage::kNamespaces, EINVAL);
}

}  // namespace

AFTER_FORK void ProbeChild(const ProbePlan& plan) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ChildFailure failure = WaitForParent(plan);
  if (!failure.failed() && plan.switch_identity) {
    failure = Check(ChildStage::kIdentity, BecomeUser(0));
  }
  if (!failure.failed()) failure = Try(plan);
  if (failure.failed()) Report(plan, failure);
  _exit(failure.failed() ? 126 : 0);
}

}  // namespace glovebox::sandbox

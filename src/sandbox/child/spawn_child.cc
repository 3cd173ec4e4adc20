#include "sandbox/child/spawn_child.h"

#include <sys/prctl.h>

#include <csignal>
#include <iterator>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/identity.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/mounts.h"
#include "sandbox/child/network.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

// The parent's death closes the pipe: end-of-file here means there is nobody left to obey.
AFTER_FORK ChildFailure WaitForParent(const SpawnPlan& plan) noexcept {
  char byte = 0;
  const long got = syscall(SYS_read, plan.parent_ready_fd, &byte, 1);
  return Check(ChildStage::kWaitForParent, got == 1 ? 0 : (got == 0 ? EPIPE : errno));
}

AFTER_FORK ChildFailure DieWithParent(const SpawnPlan&) noexcept {
  return Check(ChildStage::kDieWithParent,
               prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 ? 0 : errno);
}

AFTER_FORK ChildFailure Signals(const SpawnPlan&) noexcept {
  ResetSignalActions();
  return Check(ChildStage::kSignals, ClearSignalMask());
}

// Out of the terminal's reach: no controlling tty, no Ctrl-C of the client's.
AFTER_FORK ChildFailure NewSession(const SpawnPlan&) noexcept {
  return Check(ChildStage::kNewSession, setsid() >= 0 ? 0 : errno);
}

// While the capabilities over the new network namespace last.
AFTER_FORK ChildFailure Network(const SpawnPlan& plan) noexcept {
  return Check(ChildStage::kNetwork, RaiseNetwork(plan.network));
}

AFTER_FORK ChildFailure MountSources(const SpawnPlan& plan) noexcept {
  if (!plan.build_root) return {};
  if (const int error = MakeMountsPrivate(); error != 0) {
    return Check(ChildStage::kMountSources, error);
  }
  std::uint16_t detail = 0;
  const int error = OpenRootSources(plan.root, &detail);
  return Check(ChildStage::kMountSources, error, detail);
}

AFTER_FORK ChildFailure Identity(const SpawnPlan& plan) noexcept {
  if (!plan.switch_identity) return {};
  if (plan.kept_capabilities != 0) {
    const int error = KeepCapabilities(plan.kept_capabilities);
    if (error != 0) return Check(ChildStage::kCapabilities, error);
  }
  if (const int error = BecomeUser(plan.uid); error != 0) {
    return Check(ChildStage::kIdentity, error);
  }
  if (plan.kept_capabilities != 0) {
    const int error = RaiseCapabilities(plan.kept_capabilities);
    if (error != 0) return Check(ChildStage::kCapabilities, error);
  }
  // Changing ids cleared the death signal and made us undumpable, which would put our own /proc
  // files out of our reach.
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return Check(ChildStage::kIdentity, errno);
  return DieWithParent(plan);
}

AFTER_FORK ChildFailure Root(const SpawnPlan& plan) noexcept {
  return plan.build_root ? BuildAndPivotRoot(plan.root) : ChildFailure{};
}

AFTER_FORK ChildFailure NoNewPrivs(const SpawnPlan&) noexcept {
  return Check(ChildStage::kNoNewPrivs, SetNoNewPrivs());
}

AFTER_FORK ChildFailure Descriptors(const SpawnPlan& plan) noexcept {
  for (std::uint16_t i = 0; i < plan.move_count; ++i) {
    const DescriptorMove& move = plan.moves[i];
    if (syscall(SYS_dup3, move.from, move.to, 0) < 0) {
      return Check(ChildStage::kDescriptors, errno, i);
    }
  }
  // Close-on-exec rather than closed: the failure pipe must still work if the exec fails.
  return Check(ChildStage::kDescriptors,
               ErrnoOf(syscall(kSysCloseRange, static_cast<unsigned>(plan.first_closed_fd), ~0u,
                               kCloseRangeCloexec)));
}

// The order is the argument (docs/threat-model.md, "Entering the box"). The parent's go-ahead
// first, because no id means anything before the maps are written; sources before the identity,
// because only the starting uid can reach them; the identity before the root, because only a mapped
// uid can create files on its tmpfs.
using Step = ChildFailure (*)(const SpawnPlan&) noexcept;
constexpr Step kSteps[] = {&DieWithParent, &WaitForParent, &Signals, &NewSession, &Network,
                           &MountSources,  &Identity,      &Root,    &NoNewPrivs, &Descriptors};

}  // namespace

AFTER_FORK void SpawnChild(const SpawnPlan& plan) noexcept {
  ChildFailure failure;
  for (const Step step : kSteps) {
    failure = step(plan);
    if (failure.failed()) break;
  }
  if (!failure.failed()) {
    execve(plan.executable, plan.argv, plan.envp);
    failure = Check(ChildStage::kExec, errno);
  }
  // Nothing to be done if this fails: the parent then reports a death without a word.
  const long ignored = syscall(SYS_write, plan.failure_fd, &failure, sizeof(failure));
  static_cast<void>(ignored);
  _exit(126);
}

}  // namespace glovebox::sandbox

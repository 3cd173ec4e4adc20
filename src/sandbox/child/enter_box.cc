#include "sandbox/child/enter_box.h"

#include <sched.h>
#include <sys/prctl.h>

#include <cstring>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/identity.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/mounts.h"
#include "sandbox/child/network.h"
#include "sandbox/child/syscalls.h"
#include "sandbox/plan/walls.h"

namespace glovebox::sandbox {
namespace {

AFTER_FORK bool Stands(const BoxPlan& plan, Wall wall) noexcept {
  return Walls::FromTrustedBits(plan.walls).stands(wall);
}

// First, so that everything later is charged to the box. The descriptors were opened by the server,
// whose credentials the kernel checks, not ours.
AFTER_FORK ChildFailure JoinCgroups(const BoxPlan& plan) noexcept {
  for (std::uint16_t i = 0; i < plan.cgroup_fd_count; ++i) {
    if (syscall(SYS_write, plan.cgroup_fds[i], "0", 1) != 1) {
      return Check(ChildStage::kCgroups, errno, i);
    }
  }
  return {};
}

AFTER_FORK ChildFailure NewNamespaces(const BoxPlan& plan) noexcept {
  int flags = 0;
  if (Stands(plan, Wall::kRoot)) flags |= CLONE_NEWNS;
  if (Stands(plan, Wall::kIpcNamespace)) flags |= CLONE_NEWIPC | CLONE_NEWUTS;
  if (Stands(plan, Wall::kCgroup) && plan.mode.namespaces) flags |= CLONE_NEWCGROUP;
  if (plan.network.report_fd >= 0) flags |= CLONE_NEWNET;
  if (flags == 0) return {};  // a container's filter may refuse even that
  return Check(ChildStage::kNamespaces, ErrnoOf(syscall(SYS_unshare, flags)));
}

AFTER_FORK ChildFailure Network(const BoxPlan& plan) noexcept {
  return Check(ChildStage::kNetwork, RaiseNetwork(plan.network));
}

// The template's mounts are read-only and may be shared; whatever can be written is fresh.
AFTER_FORK ChildFailure FreshMounts(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kRoot)) return {};
  for (std::uint16_t i = 0; i < plan.fresh_mount_count; ++i) {
    const int error = MountFreshTmpfs(plan.fresh_mounts[i]);
    if (error != 0) return Check(ChildStage::kFreshMounts, error, i);
  }
  // A procfs shows the PID namespace of its mounter; without one of our own it would be the host's.
  if (!Stands(plan, Wall::kPidNamespace)) return {};
  return Check(ChildStage::kFreshMounts, MountFreshProc(), plan.fresh_mount_count);
}

AFTER_FORK ChildFailure HostName(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kIpcNamespace)) return {};
  return Check(ChildStage::kHostName,
               ErrnoOf(syscall(SYS_sethostname, plan.host_name, strlen(plan.host_name))));
}

AFTER_FORK ChildFailure Identity(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kIdentity) || plan.uid == 0) return {};
  return Check(ChildStage::kIdentity, BecomeUser(plan.uid));
}

AFTER_FORK ChildFailure UserNamespace(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kIdentity) || !plan.mode.user_namespaces()) return {};
  return Check(ChildStage::kUserNamespace, EnterUserNamespace(plan.inner_uid_map));
}

// The current folder is a descriptor too: from here on it lies inside the box.
AFTER_FORK ChildFailure WorkFolder(const BoxPlan& plan) noexcept {
  const bool has_one = Stands(plan, Wall::kRoot) || plan.own_folder.path != nullptr;
  const char* folder = has_one ? plan.work_folder : "/";
  return Check(ChildStage::kWorkFolder, ErrnoOf(syscall(SYS_chdir, folder)));
}

AFTER_FORK ChildFailure Keyring(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kIdentity)) return {};
  return Check(ChildStage::kKeyring, JoinFreshKeyring());
}

AFTER_FORK ChildFailure Limits(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kRlimits)) return {};
  std::uint16_t detail = 0;
  if (plan.cpu >= 0) {
    if (const int error = SlowGrowth(plan.cpu); error != 0) {
      return Check(ChildStage::kLimits, error, plan.limit_count);
    }
  }
  const int error = SetLimits(plan.limits, plan.limit_count, &detail);
  return Check(ChildStage::kLimits, error, detail);
}

AFTER_FORK ChildFailure Capabilities(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kIdentity)) return {};
  const bool never_had_one = plan.mode.identity == IdentitySource::kSelf;
  if (const int error = never_had_one ? ConfirmNoCapabilities() : DropCapabilities(); error != 0) {
    return Check(ChildStage::kCapabilities, error);
  }
  // From here on nobody in the box may look into init: not its memory, not its descriptors.
  return Check(ChildStage::kCapabilities, prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno);
}

AFTER_FORK ChildFailure NoNewPrivs(const BoxPlan& plan) noexcept {
  // An unprivileged Landlock domain or filter needs it; so does the identity wall, against setuid.
  if (!Stands(plan, Wall::kIdentity) && !Stands(plan, Wall::kLandlock) &&
      !Stands(plan, Wall::kSeccomp)) {
    return {};
  }
  return Check(ChildStage::kNoNewPrivs, SetNoNewPrivs());
}

AFTER_FORK ChildFailure ProcessFlags(const BoxPlan& plan) noexcept {
  if (!Stands(plan, Wall::kIdentity)) return {};
  // Where box and server have one uid, only this lets the server see what the box uses. Other boxes
  // are kept out by Landlock, which lets nobody look into a domain from outside it.
  if (!plan.mode.namespaces && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) {
    return Check(ChildStage::kProcessFlags, errno);
  }
  return Check(ChildStage::kProcessFlags, SetProcessFlags());
}

AFTER_FORK ChildFailure Landlock(const BoxPlan& plan, int ruleset_fd) noexcept {
  if (!Stands(plan, Wall::kLandlock)) return {};
  const int error = EnterRuleset(ruleset_fd);
  syscall(SYS_close, ruleset_fd);
  return Check(ChildStage::kLandlock, error);
}

AFTER_FORK ChildFailure Filter(const BoxPlan& plan, int* listener_fd) noexcept {
  if (!Stands(plan, Wall::kSeccomp)) return {};
  return Check(ChildStage::kSeccomp, ApplyFilter(plan.filter, plan.filter_length, listener_fd));
}

using Step = ChildFailure (*)(const BoxPlan&) noexcept;

// The order is the argument (docs/threat-model.md, "Entering the box"): charged before anything is
// allocated; mounts and host name while the zygote's privileges last; the uid before its user
// namespace, which maps it; limits before capabilities are gone, because no step needs more than
// they allow; no_new_privs before Python exists.
constexpr Step kEnterSteps[] = {&JoinCgroups, &NewNamespaces, &Network,       &FreshMounts,
                                &HostName,    &Identity,      &UserNamespace, &WorkFolder,
                                &Keyring,     &Limits,        &Capabilities,  &NoNewPrivs};

}  // namespace

AFTER_FORK ChildFailure EnterBox(const BoxPlan& plan) noexcept {
  for (const Step step : kEnterSteps) {
    if (const ChildFailure failure = step(plan); failure.failed()) return failure;
  }
  return {};
}

AFTER_FORK ChildFailure MakeRules(const BoxPlan& plan, int* ruleset_fd) noexcept {
  *ruleset_fd = -1;
  if (!Stands(plan, Wall::kLandlock)) return {};
  std::uint16_t detail = 0;
  const int error = MakeRuleset(plan.landlock, plan.own_folder, ruleset_fd, &detail);
  return Check(ChildStage::kLandlock, error, detail);
}

// Seccomp last, so that the filter need not allow our own set-up.
AFTER_FORK ChildFailure LockPython(const BoxPlan& plan, int ruleset_fd, int* listener_fd) noexcept {
  *listener_fd = -1;
  if (const ChildFailure failure = ProcessFlags(plan); failure.failed()) return failure;
  if (const ChildFailure failure = Landlock(plan, ruleset_fd); failure.failed()) return failure;
  return Filter(plan, listener_fd);
}

}  // namespace glovebox::sandbox

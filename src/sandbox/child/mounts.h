#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// Clones the host's trees that `root` binds, as detached mounts, into root.source_fds. Runs while
// the child still has the uid that can reach the sources and before it changes to one that cannot.
int OpenRootSources(const RootPlan& root, std::uint16_t* detail) noexcept;

// Builds the root on a fresh tmpfs and makes it the root of this mount namespace; the old one is
// detached. Preconditions: own mount namespace, CAP_SYS_ADMIN in its user namespace, a mapped uid.
ChildFailure BuildAndPivotRoot(const RootPlan& root) noexcept;

// Private propagation, so that nothing mounted here shows up on the host.
int MakeMountsPrivate() noexcept;

// A tmpfs nobody else has: nosuid, nodev, noexec.
int MountFreshTmpfs(const FreshMount& mount) noexcept;

// /proc of the caller's own PID namespace, process directories only, others' hidden.
int MountFreshProc() noexcept;

}  // namespace glovebox::sandbox

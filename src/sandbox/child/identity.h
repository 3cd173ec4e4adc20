#pragma once

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// Real, effective and saved ids at once, no supplementary groups. Preconditions: CAP_SETUID and
// CAP_SETGID in the current user namespace.
int BecomeUser(uid_t id) noexcept;

// A user namespace in which the caller's one uid and gid have the name `map` gives them. Needs no
// privilege; groups can never be changed inside. Leaves the caller with every capability *in that
// namespace* until DropCapabilities().
int EnterUserNamespace(const char* map) noexcept;

// First half of a change of uid that keeps some capabilities: nothing else in the bounding set, and
// the next change of uid does not clear what is permitted. `kept` has a bit per capability.
int KeepCapabilities(std::uint64_t kept) noexcept;

// Second half, after the change: exactly `kept` is permitted and effective, and stays so across an
// exec.
int RaiseCapabilities(std::uint64_t kept) noexcept;

// No capability in any set, none to be regained: bounding set emptied, securebits locked, so that
// uid 0 of a user namespace means nothing any more.
int LoseCapabilities() noexcept;

// The same for another uid than 0: tries to become that again and fails with EISDIR (never a real
// answer here) when it works.
int DropCapabilities() noexcept;

// The same for a process that never had one, and so may not lock the securebits: no_new_privs keeps
// it without.
int ConfirmNoCapabilities() noexcept;

// A session keyring of its own: the inherited one crosses every namespace.
int JoinFreshKeyring() noexcept;

}  // namespace glovebox::sandbox

#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>

namespace glovebox {

// The filter of policies/seccomp/python.toml for the architecture of this build, compiled while
// Glovebox was built: no library and no file is needed to install it, and it can be read in a
// process that is already confined. Static storage; safe after fork.
//
// Empty on an architecture without a table (only x86-64 and aarch64 have one). The caller must then
// refuse to start a box: an empty filter is a missing wall, not a weak one.
std::span<const sock_filter> PythonFilter() noexcept;
// The same for boxes whose memory no cgroup counts: what could hide memory from a supervisor is
// refused.
std::span<const sock_filter> PythonFilterWithoutCgroup() noexcept;

// The same for boxes that have no namespaces either: what reaches other processes or files of the
// same user is refused.
std::span<const sock_filter> PythonFilterWithoutNamespaces() noexcept;

// The same as the first for boxes in containers, where no supervisor listens: every refusal is the
// filter's own answer.
std::span<const sock_filter> PythonFilterInContainer() noexcept;

// Those of the first two for boxes with a network of their own (policies/seccomp/
// python_network.toml). A box without namespaces has none.
std::span<const sock_filter> PythonNetworkFilter() noexcept;
std::span<const sock_filter> PythonNetworkFilterWithoutCgroup() noexcept;

// The filter of policies/seccomp/egress.toml: what an egress proxy may do. Empty as above.
std::span<const sock_filter> EgressFilter() noexcept;

// A call of a filter that goes to the supervisor, which records what is refused.
struct WatchedCall {
  std::uint32_t number;
  int error;         // what it answers; 0: the kernel makes the call
  const char* name;  // "execve"
  const char* why;   // the policy's reason
};

// By number. Every call that any of the filters answers with USER_NOTIF is here.
std::span<const WatchedCall> PythonWatchedCalls() noexcept;

// The filter of policies/seccomp/server.toml, for programs of others; the same where no cgroup
// counts the box's memory; the one for boxes that nobody listens to; the calls that go to the
// supervisor.
std::span<const sock_filter> ServerFilter() noexcept;
std::span<const sock_filter> ServerFilterWithoutCgroup() noexcept;
std::span<const sock_filter> ServerFilterUnobserved() noexcept;
std::span<const WatchedCall> ServerWatchedCalls() noexcept;

}  // namespace glovebox

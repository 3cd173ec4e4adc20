#include "sandbox/compile/filters.h"

#include "sandbox/compile/egress_filter.inc"
#include "sandbox/compile/python_filter.inc"
#include "sandbox/compile/python_network_filter.inc"
#include "sandbox/compile/server_filter.inc"

namespace glovebox {

std::span<const sock_filter> PythonFilter() noexcept {
  // An x32 build is not x86-64: its calls are those that the filter kills.
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonFilterX86_64;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonFilterAarch64;
#else
  return {};
#endif
}

std::span<const sock_filter> PythonFilterWithoutCgroup() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonFilterX86_64NoCgroup;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonFilterAarch64NoCgroup;
#else
  return {};
#endif
}

std::span<const sock_filter> PythonFilterWithoutNamespaces() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonFilterX86_64SharedHost;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonFilterAarch64SharedHost;
#else
  return {};
#endif
}

std::span<const sock_filter> PythonFilterInContainer() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonFilterX86_64Container;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonFilterAarch64Container;
#else
  return {};
#endif
}

std::span<const sock_filter> PythonNetworkFilter() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonNetworkFilterX86_64;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonNetworkFilterAarch64;
#else
  return {};
#endif
}

std::span<const sock_filter> PythonNetworkFilterWithoutCgroup() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonNetworkFilterX86_64NoCgroup;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonNetworkFilterAarch64NoCgroup;
#else
  return {};
#endif
}

std::span<const sock_filter> EgressFilter() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kEgressFilterX86_64;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kEgressFilterAarch64;
#else
  return {};
#endif
}

std::span<const WatchedCall> PythonWatchedCalls() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kPythonFilterX86_64Watched;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kPythonFilterAarch64Watched;
#else
  return {};
#endif
}

std::span<const sock_filter> ServerFilter() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kServerFilterX86_64;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kServerFilterAarch64;
#else
  return {};
#endif
}

std::span<const sock_filter> ServerFilterWithoutCgroup() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kServerFilterX86_64NoCgroup;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kServerFilterAarch64NoCgroup;
#else
  return {};
#endif
}

std::span<const sock_filter> ServerFilterUnobserved() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kServerFilterX86_64Container;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kServerFilterAarch64Container;
#else
  return {};
#endif
}

std::span<const WatchedCall> ServerWatchedCalls() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  return kServerFilterX86_64Watched;
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
  return kServerFilterAarch64Watched;
#else
  return {};
#endif
}

}  // namespace glovebox

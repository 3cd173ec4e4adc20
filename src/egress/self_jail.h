#pragma once

#include "base/result.h"

namespace glovebox::egress {

// What the proxy does to itself before it meets a byte from the box: limits, no capability, no
// writable code, no file but what its resolver reads, and only the system calls of
// policies/seccomp/egress.toml. The namespaces and the root around it were made by the server.
// `other_uid`: its user namespace maps uid 1, which it is to be. Precondition: one thread. An error
// means that it is not held and must not serve.
Status LockSelfIn(bool other_uid);

}  // namespace glovebox::egress

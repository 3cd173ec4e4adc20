#pragma once

#include "base/unique_fd.h"
#include "sandbox/plan/walls.h"

namespace glovebox::zygote {

// The life of a locked box's Python: says it is ready and gives the server the filter's `listener`
// (if there is one), then answers requests that come through the gate until the server closes it.
// After each answer it waits again, so that no tear-down stands between an answer and the server;
// the server kills the box when it is done with it.
[[noreturn]] void ServeGate(int gate_fd, sandbox::Walls walls, UniqueFd listener);

}  // namespace glovebox::zygote

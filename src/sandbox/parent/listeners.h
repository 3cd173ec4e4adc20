#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "base/socket_pair.h"
#include "base/unique_fd.h"

namespace glovebox::sandbox {

// The socket over which a child's listeners come; the child's end is NetworkPlan::report_fd. Ours
// does not block.
Result<SocketPair> MakeListenerSocket();

// The `count` listeners that the child made, in the order of its ports. They are there once Spawn
// has returned, or the box is ready; asked before that, kSystem.
Result<std::vector<UniqueFd>> ReceiveListeners(int socket_fd, std::size_t count);

}  // namespace glovebox::sandbox

#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::sandbox {

// Both ends of the socket over which a child's listeners come (NetworkPlan::report_fd). Ours does
// not block.
struct ListenerSocket {
  UniqueFd ours;
  UniqueFd childs;
};
Result<ListenerSocket> MakeListenerSocket();

// The `count` listeners that the child made, in the order of its ports. They are there once Spawn
// has returned, or the box is ready; asked before that, kSystem.
Result<std::vector<UniqueFd>> ReceiveListeners(int socket_fd, std::size_t count);

}  // namespace glovebox::sandbox

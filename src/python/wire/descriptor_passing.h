#pragma once

// One message with descriptors over a SOCK_SEQPACKET socket, as both ends of the zygote's channel
// use it. Interrupted calls are tried again.

#include <string>
#include <string_view>
#include <vector>

namespace glovebox::wire {

struct ReceivedMessage {
  std::string payload;   // empty at end of file
  std::vector<int> fds;  // the caller's to close; close-on-exec
};

// 0, or an errno value.
int SendWithDescriptors(int socket_fd, std::string_view payload, const std::vector<int>& fds);

// 0 (an empty payload means the peer is gone), or an errno value; EAGAIN on a non-blocking socket.
// A message that was cut short is EMSGSIZE, and its descriptors are closed. For one thread of a
// process.
int ReceiveWithDescriptors(int socket_fd, ReceivedMessage& message);

}  // namespace glovebox::wire

#pragma once

#include <poll.h>

#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>

namespace glovebox {

// What poll(2) says of a descriptor at this moment.
inline bool IsReady(int fd, short events) {
  pollfd watched = {fd, events, 0};
  return ::poll(&watched, 1, 0) > 0;
}

// Calls `handler(error)` once the descriptor can be read, or the wait is cancelled. The handler
// keeps the descriptor alive.
//
// An async_wait of asio's alone does not promise that: what its reactor noticed of a descriptor
// that was closed meanwhile is told to the next one that takes over its record. Who reads and can
// live with EAGAIN need not care. Who takes the wait's word for an end (a pidfd), or reads from a
// descriptor that blocks, must use this.
template <typename Handler>
void AwaitReadable(boost::asio::posix::stream_descriptor& descriptor, Handler handler) {
  using boost::asio::posix::stream_descriptor;
  descriptor.async_wait(
      stream_descriptor::wait_read,
      [&descriptor, handler = std::move(handler)](const boost::system::error_code& error) mutable {
        if (error || IsReady(descriptor.native_handle(), POLLIN)) {
          return handler(error);
        }
        AwaitReadable(descriptor, std::move(handler));
      });
}

}  // namespace glovebox

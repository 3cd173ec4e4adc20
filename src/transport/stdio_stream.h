#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {

// One direction of an inherited byte stream, made asynchronous without harm to whoever else holds
// it. O_NONBLOCK belongs to the open file description, which a standard stream shares with the
// shell that started us; set there, it breaks the next program on that terminal. So, in order:
//   1. What epoll refuses (regular files, /dev/null) is always ready: it is read and written
//      directly, one piece per turn of the loop. No thread, no flag.
//   2. Pipes and terminals are opened again through /proc/self/fd: a description of our own.
//   3. Sockets, and what cannot be opened again, get the flag, and get it back on destruction. Only
//      a SIGKILL keeps it set, and for the usual socket nobody else holds that end.
//
// Thread rule: the thread that runs the io_context. At most one operation at a time. Destruction
// cancels it; its handler then runs with an error, later, from the io_context.
class StdioStream {
 public:
  enum class Direction { kRead, kWrite };
  using Handler = std::function<void(const boost::system::error_code&, std::size_t)>;

  // Does not take `fd`: works on a descriptor of its own. `name` is for error messages.
  static Result<std::unique_ptr<StdioStream>> Open(boost::asio::io_context& context, int fd,
                                                   Direction direction, std::string_view name);
  ~StdioStream();
  StdioStream(const StdioStream&) = delete;
  StdioStream& operator=(const StdioStream&) = delete;

  // End-of-file arrives as boost::asio::error::eof. `handler` never runs inside the call; the
  // memory must stay until it does.
  void AsyncReadSome(boost::asio::mutable_buffer buffer, Handler handler);
  void AsyncWriteSome(std::vector<boost::asio::const_buffer> buffers, Handler handler);

 private:
  explicit StdioStream(boost::asio::io_context& context) : context_(context) {}

  boost::asio::io_context& context_;
  std::shared_ptr<UniqueFd> always_ready_;                           // case 1; null otherwise
  std::optional<boost::asio::posix::stream_descriptor> descriptor_;  // cases 2 and 3
  bool restore_blocking_ = false;                                    // case 3
};

}  // namespace glovebox

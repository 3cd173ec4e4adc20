#include "transport/stdio_stream.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

namespace glovebox {
namespace {

using boost::system::error_code;

constexpr std::size_t kBuffersPerWriteMax = 64;
constexpr std::size_t kDirectBytesPerTurnMax = std::size_t{256} * 1024;

// Found by asking: which kinds of file have no readiness is the kernel's business.
Result<bool> EpollRefuses(int fd) {
  const UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Error::FromErrno("epoll_create1", errno);
  epoll_event event{};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0) return false;
  if (errno == EPERM) return true;
  return Error::FromErrno("epoll_ctl", errno);
}

// A second description of the same pipe or terminal, or nothing when there is no way to get one.
UniqueFd Reopen(int fd, StdioStream::Direction direction) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return UniqueFd();
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return UniqueFd();
  // Opening the master side of a pseudo-terminal again would create another terminal.
  int terminal_number = 0;
  if (::ioctl(fd, TIOCGPTN, &terminal_number) == 0) return UniqueFd();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int access = direction == StdioStream::Direction::kRead ? O_RDONLY : O_WRONLY;
  return UniqueFd(::open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

error_code LastError() { return error_code(errno, boost::system::system_category()); }

}  // namespace

Result<std::unique_ptr<StdioStream>> StdioStream::Open(boost::asio::io_context& context, int fd,
                                                       Direction direction, std::string_view name) {
  std::unique_ptr<StdioStream> stream(new StdioStream(context));
  UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!own) return Error::FromErrno(std::string(name), errno);
  auto refused = EpollRefuses(own.get());
  if (!refused) return std::move(refused).error().Within(std::string(name));
  if (*refused) {
    stream->always_ready_ = std::make_shared<UniqueFd>(std::move(own));
    return stream;
  }
  if (UniqueFd reopened = Reopen(fd, direction)) {
    own = std::move(reopened);
  } else {
    const int flags = ::fcntl(own.get(), F_GETFL);
    if (flags < 0) return Error::FromErrno(std::string(name), errno);
    // Asio sets the flag with the first operation; here only who has to take it back is decided.
    stream->restore_blocking_ = (flags & O_NONBLOCK) == 0;
  }
  error_code error;
  stream->descriptor_.emplace(context);
  stream->descriptor_->assign(own.get(), error);
  if (error) return Error(Errc::kSystem, std::string(name) + ": " + error.message());
  own.release();
  return stream;
}

StdioStream::~StdioStream() {
  if (!restore_blocking_ || !descriptor_) return;
  const int fd = descriptor_->native_handle();
  if (const int flags = ::fcntl(fd, F_GETFL); flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

void StdioStream::AsyncReadSome(boost::asio::mutable_buffer buffer, Handler handler) {
  if (descriptor_) {
    descriptor_->async_read_some(buffer, std::move(handler));
    return;
  }
  // The read happens in the posted turn, which holds the descriptor weakly: after destruction the
  // buffer may be gone, and only the error is delivered.
  boost::asio::post(context_,
                    [weak = std::weak_ptr(always_ready_), buffer, handler = std::move(handler)] {
                      const auto fd = weak.lock();
                      if (!fd) return handler(boost::asio::error::operation_aborted, 0);
                      ssize_t count = 0;
                      do {
                        count = ::read(fd->get(), buffer.data(), buffer.size());
                      } while (count < 0 && errno == EINTR);
                      if (count < 0) return handler(LastError(), 0);
                      if (count == 0) return handler(boost::asio::error::eof, 0);
                      handler({}, static_cast<std::size_t>(count));
                    });
}

void StdioStream::AsyncWriteSome(std::vector<boost::asio::const_buffer> buffers, Handler handler) {
  if (descriptor_) {
    descriptor_->async_write_some(buffers, std::move(handler));
    return;
  }
  boost::asio::post(context_, [weak = std::weak_ptr(always_ready_), buffers = std::move(buffers),
                               handler = std::move(handler)] {
    const auto fd = weak.lock();
    if (!fd) return handler(boost::asio::error::operation_aborted, 0);
    std::vector<iovec> pieces;
    std::size_t left = kDirectBytesPerTurnMax;
    for (const auto& buffer : buffers) {
      if (left == 0 || pieces.size() == kBuffersPerWriteMax) break;
      const std::size_t length = std::min(buffer.size(), left);
      pieces.push_back({const_cast<void*>(buffer.data()), length});
      left -= length;
    }
    ssize_t count = 0;
    do {
      count = ::writev(fd->get(), pieces.data(), static_cast<int>(pieces.size()));
    } while (count < 0 && errno == EINTR);
    if (count < 0) return handler(LastError(), 0);
    handler({}, static_cast<std::size_t>(count));
  });
}

}  // namespace glovebox

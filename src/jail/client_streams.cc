#include "jail/client_streams.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace glovebox::jail {

OutStream::OutStream(int fd, Sharing sharing) : fd_(fd) {
  if (sharing == Sharing::kOurs) return;  // a pipe that does not block
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return;
  socket_ = S_ISSOCK(info.st_mode);
  if (S_ISFIFO(info.st_mode)) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    own_.reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  waits_ = !socket_ && !own_;
}

bool OutStream::Flush(std::string& queue) const {
  std::size_t done = 0;
  bool open = true;
  while (done < queue.size()) {
    // What poll promised room for fits, if it is no more than this.
    const std::size_t size =
        waits_ ? std::min<std::size_t>(queue.size() - done, PIPE_BUF) : queue.size() - done;
    const char* data = queue.data() + done;
    const ssize_t wrote =
        socket_ ? ::send(fd(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL) : ::write(fd(), data, size);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
      if (waits_) break;
      continue;
    }
    if (wrote < 0 && errno == EINTR) continue;
    open = wrote < 0 && errno == EAGAIN;
    break;
  }
  queue.erase(0, done);
  return open;
}

ssize_t ReadInto(int fd, std::string& buffer) {
  thread_local std::array<char, 64u << 10> bytes;
  ssize_t got = 0;
  do {
    got = ::read(fd, bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) buffer.append(bytes.data(), static_cast<std::size_t>(got));
  return got;
}

}  // namespace glovebox::jail

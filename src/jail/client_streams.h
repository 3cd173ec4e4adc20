#pragma once

// The client's three descriptors, read and written without blocking and without changing how others
// who share them see them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace glovebox::jail {

class OutStream {
 public:
  // `fd` stays the caller's. One that is shared with others is not made non-blocking.
  enum class Sharing : std::uint8_t { kShared, kOurs };
  OutStream(int fd, Sharing sharing);
  int fd() const { return own_ ? own_.get() : fd_; }
  // Writes from the beginning of `queue` what goes without waiting; false when the reader is gone.
  bool Flush(std::string& queue) const;

 private:
  int fd_;
  UniqueFd own_;  // of a pipe: an open file of ours, which can be non-blocking
  bool socket_ = false;
  bool waits_ = false;  // a file or a terminal: writing waits
};

// Appends what can be read, at most 64 KiB: what `read` answers. Precondition: poll said so.
ssize_t ReadInto(int fd, std::string& buffer);

}  // namespace glovebox::jail

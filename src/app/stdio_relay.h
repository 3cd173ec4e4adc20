#pragma once

// How `glovebox exec` passes its own streams through: as they are, without blocking the loop that
// keeps the box's clocks, and without touching flags that a shell shares with us.

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "base/unique_fd.h"
#include "transport/stdio_stream.h"

namespace glovebox {

// Copies a descriptor into a pipe of our own, which a box's input can be taken from.
class InputRelay {
 public:
  static Result<std::unique_ptr<InputRelay>> Start(boost::asio::io_context& context, int fd);
  // The pipe to read from; end of file when the source has ended.
  int read_end() const { return pipe_read_.get(); }

 private:
  InputRelay() = default;
  void Read();
  void Write(std::size_t size);

  std::unique_ptr<StdioStream> source_;
  std::unique_ptr<StdioStream> sink_;
  UniqueFd pipe_read_;
  std::array<char, 16384> buffer_;
};

// Writes to a descriptor in order and never blocks. What a slow reader has not taken waits in
// memory; a box's output is bounded, so this is too.
class OutputRelay {
 public:
  static Result<std::unique_ptr<OutputRelay>> Open(boost::asio::io_context& context, int fd);
  void Write(std::string_view bytes);
  // Everything is written, or the reader is gone.
  bool idle() const { return queue_.empty(); }
  bool at_line_start() const { return at_line_start_; }

 private:
  OutputRelay() = default;
  void WriteNext();

  std::unique_ptr<StdioStream> sink_;
  std::deque<std::string> queue_;
  std::size_t written_ = 0;  // of the front of the queue
  bool at_line_start_ = true;
};

}  // namespace glovebox

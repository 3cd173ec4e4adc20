#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace glovebox {

// Cuts a byte stream into lines: incremental, bounded, indifferent to where the stream was split.
// A line ends with "\n" or "\r\n"; no other character ends one (U+2028 is content). Blank lines are
// skipped. Memory: at most one line of the maximum length and the bytes given to one Append.
class LineFramer {
 public:
  enum class Kind {
    kLine,     // `text` is the line without its end
    kTooLong,  // a line over the maximum began; its bytes are being thrown away
  };
  struct Frame {
    Kind kind;
    std::string_view text;  // valid until the next call of any member
  };

  explicit LineFramer(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  // Adds bytes from the stream. Call Next until it is empty before adding more, or the bound on
  // memory is lost.
  void Append(std::string_view bytes);

  // The next whole line, or nothing until more bytes arrive. A line that is too long is reported
  // once, as soon as it is known to be.
  std::optional<Frame> Next();

  // The stream ended: what stands after the last newline, if anything.
  std::optional<Frame> Finish();

 private:
  std::optional<Frame> TakeLine(std::size_t length, std::size_t terminator_length);

  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t begin_ = 0;    // where the unread part of buffer_ starts
  std::size_t scanned_ = 0;  // up to here there is no newline after begin_
  bool discarding_ = false;  // inside a line that was already reported as too long
};

}  // namespace glovebox

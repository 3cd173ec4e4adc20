#include "transport/line_framing.h"

namespace glovebox {

void LineFramer::Append(std::string_view bytes) {
  // Moving the rest to the front is cheap here: after Next ran dry it is less than one line.
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  buffer_.append(bytes);
}

std::optional<LineFramer::Frame> LineFramer::TakeLine(std::size_t length,
                                                      std::size_t terminator_length) {
  std::string_view line = std::string_view(buffer_).substr(begin_, length);
  begin_ += length + terminator_length;
  scanned_ = begin_;
  if (discarding_) {
    discarding_ = false;
    return std::nullopt;
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() > line_bytes_max_) return Frame{Kind::kTooLong, {}};
  if (line.find_first_not_of(" \t") == std::string_view::npos) return std::nullopt;
  return Frame{Kind::kLine, line};
}

std::optional<LineFramer::Frame> LineFramer::Next() {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) break;
    if (auto frame = TakeLine(newline - begin_, 1)) return frame;
  }
  scanned_ = buffer_.size();
  // One more than the maximum is allowed for: it may be the "\r" of the line's end.
  if (!discarding_ && buffer_.size() - begin_ <= line_bytes_max_ + 1) return std::nullopt;
  begin_ = scanned_;
  if (discarding_) return std::nullopt;
  discarding_ = true;
  return Frame{Kind::kTooLong, {}};
}

std::optional<LineFramer::Frame> LineFramer::Finish() {
  if (auto frame = Next()) return frame;
  return TakeLine(buffer_.size() - begin_, 0);
}

}  // namespace glovebox

#include "mcp/sse_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace glovebox::mcp {

void SseReader::Resume() {
  buffer_.clear();
  begin_ = scanned_ = 0;
  at_start_ = true;
  after_return_ = false;
  type_.clear();
  data_.clear();
  has_data_ = false;
  id_ = last_event_id_;
}

void SseReader::Append(std::string_view bytes) {
  scanned_ -= std::min(scanned_, begin_);
  buffer_.erase(0, std::exchange(begin_, 0));
  buffer_ += bytes;
}

Result<std::optional<ServerSentEvent>> SseReader::Next() {
  while (!too_large_) {
    const auto line = NextLine();
    if (!line) {
      too_large_ = buffer_.size() - begin_ > event_bytes_max_;
      if (too_large_) break;
      return std::optional<ServerSentEvent>();
    }
    if (!line->empty()) {
      TakeField(*line);
      continue;
    }
    last_event_id_ = id_;
    const bool whole = std::exchange(has_data_, false);
    ServerSentEvent event{std::exchange(type_, {}), std::exchange(data_, {})};
    if (!whole) continue;
    if (event.type.empty()) event.type = "message";
    return std::optional(std::move(event));
  }
  return Error(Errc::kLimit, "an event of the stream is longer than " +
                                 std::to_string(event_bytes_max_) + " bytes");
}

// The line stays valid until the next Append.
std::optional<std::string_view> SseReader::NextLine() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (at_start_) {
    const std::string_view seen = std::string_view(buffer_).substr(begin_, kByteOrderMark.size());
    if (seen.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(seen)) {
      return std::nullopt;
    }
    at_start_ = false;
    if (seen == kByteOrderMark) begin_ += kByteOrderMark.size();
  }
  if (after_return_ && begin_ < buffer_.size()) {
    if (buffer_[begin_] == '\n') ++begin_;
    after_return_ = false;
  }
  const std::size_t end = buffer_.find_first_of("\r\n", std::max(begin_, scanned_));
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
  after_return_ = buffer_[end] == '\r';
  begin_ = end + 1;
  return line;
}

void SseReader::TakeField(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) data_ += '\n';
    has_data_ = true;
    too_large_ = data_.size() + value.size() > event_bytes_max_;
    if (!too_large_) data_ += value;
  } else if (field == "event") {
    type_ = value.substr(0, kIdBytesMax);
  } else if (field == "id") {
    if (value.size() <= kIdBytesMax && value.find('\0') == std::string_view::npos) id_ = value;
  } else if (field == "retry") {
    std::int64_t milliseconds = 0;
    const auto [stop, error] =
        std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    const bool is_number = error == std::errc() && stop == value.data() + value.size();
    if (is_number && milliseconds >= 0) retry_ = std::chrono::milliseconds(milliseconds);
  }
}

}  // namespace glovebox::mcp

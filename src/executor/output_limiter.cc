#include "executor/output_limiter.h"

#include <algorithm>

#include "base/utf8.h"

namespace glovebox {
namespace {

bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

void OutputLimiter::Append(std::string_view bytes) {
  bytes_total_ += bytes.size();
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kTailBytes)));
  if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  // A stray continuation byte counts for nothing, so a stream of them is bounded in bytes as well.
  const std::uint64_t bytes_max = std::uint64_t{chars_max_} * 4;
  std::size_t taken = 0;
  while (taken < bytes.size() && head_.size() + taken < bytes_max) {
    if (StartsCharacter(bytes[taken])) {
      if (chars_ == chars_max_) break;
      ++chars_;
    }
    ++taken;
  }
  // Once something was dropped the head is closed, or later bytes would follow a hole.
  if (head_.size() + bytes.size() == bytes_total_) head_.append(bytes.substr(0, taken));
}

CapturedStream OutputLimiter::Finish() && {
  CapturedStream stream;
  stream.bytes_dropped = bytes_total_ - head_.size();
  stream.text = ToUtf8(head_);
  if (stream.bytes_dropped > 0) {
    stream.text += kTruncationMarker;
    std::string_view tail = tail_;
    if (tail.size() > kTailBytes) tail.remove_prefix(tail.size() - kTailBytes);
    while (!tail.empty() && !StartsCharacter(tail.front())) tail.remove_prefix(1);
    stream.tail = ToUtf8(tail);
  }
  return stream;
}

}  // namespace glovebox

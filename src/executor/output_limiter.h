#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "executor/outcome.h"

namespace glovebox {

// Keeps the head of a stream up to a number of characters and, beyond it, the last few KiB, in
// bounded memory whatever arrives. Characters are code points, counted on the bytes as they come.
class OutputLimiter {
 public:
  explicit OutputLimiter(std::uint32_t chars_max) : chars_max_(chars_max) {}

  void Append(std::string_view bytes);

  // The stream has sent so much that nobody can want it: 64 times what is kept.
  bool flooded() const { return bytes_total_ > kFloodFactor * (std::uint64_t{chars_max_} + 1); }

  // What was kept, as valid UTF-8, with the marker when something was dropped.
  CapturedStream Finish() &&;

 private:
  static constexpr std::uint64_t kFloodFactor = 64;
  std::uint32_t chars_max_;
  std::uint64_t chars_ = 0;
  std::uint64_t bytes_total_ = 0;
  std::string head_;
  std::string tail_;  // the newest bytes; trimmed to kTailBytes when it has grown to twice that
};

}  // namespace glovebox

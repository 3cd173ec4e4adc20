#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace glovebox::egress {

// A chunked request body, read strictly and written anew: sizes without extensions, no trailers.
// What goes onwards has one reading, whatever came.
class ChunkReader {
 public:
  // Takes what it understands of `input`, appends what is to be sent onwards to `out` and returns
  // how many bytes it took. 0 without done() or failed(): more is needed.
  std::size_t Take(std::string_view input, std::string& out);

  bool done() const { return state_ == State::kDone; }
  bool failed() const { return state_ == State::kFailed; }

 private:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailer, kDone, kFailed };
  std::size_t TakeLine(std::string_view input, std::string& out);
  std::size_t TakeData(std::string_view input, std::string& out);
  bool ReadSize(std::string_view line, std::string& out);

  State state_ = State::kSize;
  std::uint64_t left_ = 0;  // of the chunk under way
  std::size_t trailer_bytes_ = 0;
};

}  // namespace glovebox::egress

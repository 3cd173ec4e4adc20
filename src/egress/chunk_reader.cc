#include "egress/chunk_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace glovebox::egress {
namespace {

constexpr std::size_t kLineMax = 256;
constexpr std::size_t kTrailerMax = 4096;
constexpr std::size_t kSizeDigitsMax = 12;

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsPlain(char c) { return (c >= ' ' && c <= '~') || c == '\t'; }

}  // namespace

bool ChunkReader::ReadSize(std::string_view line, std::string& out) {
  const std::string_view digits = line.substr(0, line.find(';'));
  if (digits.empty() || digits.size() > kSizeDigitsMax ||
      !std::all_of(digits.begin(), digits.end(), IsHex) ||
      !std::all_of(line.begin(), line.end(), IsPlain)) {
    return false;
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  std::array<char, 16> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), left_, 16);
  out.append(text.data(), end.ptr).append("\r\n");
  if (left_ == 0) out.append("\r\n");
  return true;
}

std::size_t ChunkReader::TakeLine(std::string_view input, std::string& out) {
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos) {
    if (input.size() > kLineMax) state_ = State::kFailed;
    return 0;
  }
  if (end == 0 || end > kLineMax || input[end - 1] != '\r') {
    state_ = State::kFailed;
    return 0;
  }
  const std::string_view line = input.substr(0, end - 1);
  switch (state_) {
    case State::kSize:
      if (!ReadSize(line, out)) {
        state_ = State::kFailed;
        return 0;
      }
      state_ = left_ == 0 ? State::kTrailer : State::kData;
      break;
    case State::kDataEnd: state_ = line.empty() ? State::kSize : State::kFailed; break;
    case State::kTrailer:
      trailer_bytes_ += line.size();
      if (line.empty()) state_ = State::kDone;
      if (trailer_bytes_ > kTrailerMax) state_ = State::kFailed;
      break;
    case State::kData:
    case State::kDone:
    case State::kFailed: break;
  }
  return failed() ? 0 : end + 1;
}

std::size_t ChunkReader::TakeData(std::string_view input, std::string& out) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
  out.append(input.substr(0, size));
  left_ -= size;
  if (left_ == 0) {
    out.append("\r\n");
    state_ = State::kDataEnd;
  }
  return size;
}

std::size_t ChunkReader::Take(std::string_view input, std::string& out) {
  std::size_t taken = 0;
  while (!done() && !failed() && taken < input.size()) {
    const std::string_view rest = input.substr(taken);
    const std::size_t step = state_ == State::kData ? TakeData(rest, out) : TakeLine(rest, out);
    if (step == 0) break;
    taken += step;
  }
  return taken;
}

}  // namespace glovebox::egress

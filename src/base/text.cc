#include "base/text.h"

#include <cstddef>
#include <cstdint>

namespace glovebox {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What a lead byte promises: how long the sequence is and which second bytes are legal (Unicode
// table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF).
struct Lead {
  std::size_t length;
  std::uint8_t second_min;
  std::uint8_t second_max;
};

Lead Classify(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string ToUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  std::size_t position = 0;
  while (position < bytes.size()) {
    const auto at = [&](std::size_t index) { return static_cast<std::uint8_t>(bytes[index]); };
    const Lead lead = Classify(at(position));
    std::size_t good = lead.length == 0 ? 0 : 1;
    while (good > 0 && good < lead.length && position + good < bytes.size()) {
      const std::uint8_t next = at(position + good);
      const std::uint8_t low = good == 1 ? lead.second_min : 0x80;
      const std::uint8_t high = good == 1 ? lead.second_max : 0xBF;
      if (next < low || next > high) break;
      ++good;
    }
    if (lead.length != 0 && good == lead.length) {
      out.append(bytes.substr(position, good));
      position += good;
    } else {
      out.append(kReplacement);
      position += good == 0 ? 1 : good;
    }
  }
  return out;
}

}  // namespace glovebox

#include "base/base64.h"

#include <cstddef>

namespace glovebox {
namespace {

constexpr std::string_view kStandardDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::string_view DigitsOf(Base64 alphabet) {
  return alphabet == Base64::kStandard ? kStandardDigits : kUrlDigits;
}

}  // namespace

std::string EncodeBase64(std::string_view bytes, Base64 alphabet) {
  const std::string_view digits = DigitsOf(alphabet);
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t begin = 0; begin < bytes.size(); begin += 3) {
    const std::string_view group = bytes.substr(begin, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<std::uint8_t>(group[i]) : 0u);
    }
    for (std::size_t i = 0; i <= group.size(); ++i) text += digits[bits >> (18 - 6 * i) & 63];
    if (alphabet == Base64::kStandard) text.append(3 - group.size(), '=');
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text, Base64 alphabet) {
  if (alphabet == Base64::kStandard) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  const std::string_view digits = DigitsOf(alphabet);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned pending = 0;  // bits of `bits` that are no byte yet
  for (const char digit : text) {
    const std::size_t value = digits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    pending += 6;
    if (pending >= 8) {
      pending -= 8;
      bytes += static_cast<char>(bits >> pending & 255);
    }
  }
  if ((bits & ((1u << pending) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace glovebox

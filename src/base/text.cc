#include "base/text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace glovebox {
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

Result<std::uint64_t> ParseSize(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  std::optional<int> shift;
  if (unit.empty() || unit == "b" || unit == "B") shift = 0;
  if (unit == "k" || unit == "K") shift = 10;
  if (unit == "m" || unit == "M") shift = 20;
  if (unit == "g" || unit == "G") shift = 30;
  if (error != std::errc() || !shift || number > (UINT64_MAX >> *shift)) {
    return Error(Errc::kInvalidArgument,
                 "an integer with an optional unit b, k, m or g (\"128m\")");
  }
  return number << *shift;
}

std::string SizeText(std::uint64_t bytes) {
  for (const auto& [shift, letter] : {std::pair(30, "g"), std::pair(20, "m"), std::pair(10, "k")}) {
    const std::uint64_t unit = std::uint64_t{1} << shift;
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + letter;
  }
  return std::to_string(bytes);
}

}  // namespace glovebox

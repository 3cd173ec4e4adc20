#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox {

// The pieces between separators; an empty text has one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);

// Without blanks and line ends at either side.
std::string_view Trim(std::string_view text);

// Docker's size syntax, in bytes: a whole number and an optional b, k, m or g of either case, as in
// "128m". The message of an error is the rule.
Result<std::uint64_t> ParseSize(std::string_view text);

// 64m, 1g, 100: the shortest form that ParseSize reads back.
std::string SizeText(std::uint64_t bytes);

}  // namespace glovebox

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glovebox {

// The pieces between separators; an empty text has one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);

// Without blanks and line ends at either side.
std::string_view Trim(std::string_view text);

// `bytes` as valid UTF-8: whatever is not is replaced by U+FFFD, one per maximal bad sequence.
std::string ToUtf8(std::string_view bytes);

}  // namespace glovebox

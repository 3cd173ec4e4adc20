#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace glovebox {

enum class Utf8Kind : std::uint8_t {
  kValid,       // one code point of `length` bytes
  kInvalid,     // `length` bytes that can never become one
  kIncomplete,  // the text ends inside a code point that was valid so far
};

struct Utf8Step {
  Utf8Kind kind;
  std::size_t length;
};

// Looks at the first code point of `text`, which must not be empty. Strict: no surrogates, no
// overlong forms, nothing above U+10FFFF.
Utf8Step NextUtf8(std::string_view text);

// Code points in valid UTF-8; in other text, bytes that are no continuation.
std::size_t CountCodePoints(std::string_view text);

// The longest prefix of valid UTF-8 that has at most `count_max` code points, in bytes.
std::size_t PrefixOfCodePoints(std::string_view text, std::size_t count_max);

// `bytes` as valid UTF-8: whatever is not is replaced by U+FFFD, one per maximal bad sequence.
std::string ToUtf8(std::string_view bytes);

}  // namespace glovebox

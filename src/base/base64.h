#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glovebox {

// RFC 4648: with + and / and padding, or the one for names and addresses, with - and _ and none.
enum class Base64 : std::uint8_t { kStandard, kUrl };

std::string EncodeBase64(std::string_view bytes, Base64 alphabet);
// Strict, so that one text means one sequence of bytes and the other way round: nothing for foreign
// characters, missing or extra padding, or bits that are set and mean nothing.
std::optional<std::string> DecodeBase64(std::string_view text, Base64 alphabet);

}  // namespace glovebox

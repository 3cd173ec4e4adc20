#pragma once

#include <string>

namespace glovebox::mcp {

// A name nobody can guess, for sessions and tasks: 192 bits of the system's randomness as 32
// characters of A-Z a-z 0-9 - _ (one token in a header, no escapes in JSON).
std::string RandomName();

}  // namespace glovebox::mcp

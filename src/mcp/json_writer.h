#pragma once

#include <string>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace glovebox::mcp {

// JSON as one line: compact, keys in their order, no raw control character. Every string leaves as
// valid UTF-8 (what is not becomes U+FFFD), so one bad byte from a box cannot spoil a message.
// Numbers are written the way people write them (0.25, not 2.5E-1); a double stays recognisable as
// one (4.0); NaN and infinities, which JSON lacks, become null.
//
// Recursive: the value's depth must be bounded by whoever made it.
std::string WriteJson(const boost::json::value& value);
std::string WriteJson(const boost::json::object& object);

}  // namespace glovebox::mcp

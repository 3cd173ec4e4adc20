#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.h"

namespace glovebox::mcp {

struct JsonLimits {
  std::size_t depth_max;
  std::size_t values_max;  // keys and values together
};

// Strict JSON from hostile bytes: one document, nothing after it but white space, valid UTF-8, no
// key twice in one object. Numbers are the nearest there is: integers of 64 bits, else doubles.
// Time is O(n log n) for any input; memory is bounded by the limits and the length of `text`.
//
// Errors: kInvalidArgument is not JSON; kLimit is JSON that we will not take (a limit, a duplicate
// key, a number beyond the largest double).
Result<boost::json::value> ReadJson(std::string_view text, const JsonLimits& limits);

}  // namespace glovebox::mcp

#pragma once

#include <string_view>

#include <boost/json/object.hpp>

#include "executor/outcome.h"

namespace glovebox {

// What a validation found, in both shapes that clients of validate_code know: flat (`valid`,
// `message`, `warnings`; or `error`, `line`, `offset`, `text`; or `errors`) and nested
// (`validation`, `analysis`, `recommendations`). Beside them `findings`, one object for each thing
// the language layer objects to, and `caret`, the line of a syntax error with a mark below it.
boost::json::object ValidationToJson(std::string_view code, const Outcome& outcome);

// The same for code that no box was asked about.
boost::json::object InvalidToJson(std::string_view code, std::string_view error);

// The line in error and, below it, a mark at `offset` (1-based, in characters); empty without one.
std::string CaretText(std::string_view text, int offset);

}  // namespace glovebox

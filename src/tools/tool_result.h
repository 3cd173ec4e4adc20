#pragma once

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/tool_messages.h"

namespace glovebox {

// A document as a tool gives it back: as structured content, and the same as compact JSON in a text
// block, for clients that know only one of the two.
mcp::CallToolResult ToToolResult(boost::json::object document);

// An argument the model can mend: its sentence, with is_error.
mcp::CallToolResult ToToolResult(const Error& error);

}  // namespace glovebox

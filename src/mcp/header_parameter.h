#pragma once

#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/tool_registry.h"

namespace glovebox::mcp {

// Every x-mcp-header in a tool's schema. kInvalidArgument names the first that breaks a rule: it
// must be a token, used once whatever its case, on a string, integer or boolean that is reached
// through `properties` alone. A tool with such a one must not be offered, and clients drop it.
Result<std::vector<HeaderParameter>> FindHeaderParameters(const boost::json::object& schema);

}  // namespace glovebox::mcp

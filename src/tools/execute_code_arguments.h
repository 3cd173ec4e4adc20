#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "executor/request.h"
#include "mcp/tool_messages.h"
#include "tools/run_limits.h"

namespace glovebox {

// What a call of execute_code asks for.
struct ExecuteCodeArguments {
  ExecutionRequest request;
  bool capture_output = true;
};

// Errors are kInvalidArgument and name the argument, the rule and the value, so that a model can
// mend its call. Code that is blank or too long is not an error here: it has a result of its own.
Result<ExecuteCodeArguments> ReadExecuteCodeArguments(const boost::json::object& arguments,
                                                      const RunLimits& limits);

// The tool as clients see it.
mcp::ToolDefinition ExecuteCodeDefinition(const RunLimits& limits);

}  // namespace glovebox

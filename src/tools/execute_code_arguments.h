#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "executor/request.h"
#include "mcp/tool_messages.h"
#include "policy/profile_offer.h"
#include "tools/profile_table.h"
#include "tools/run_limits.h"

namespace glovebox {

// What a call of execute_code asks for.
struct ExecuteCodeArguments {
  ExecutionRequest request;
  bool capture_output = true;
};

// Errors are kInvalidArgument and name the argument, the rule and the value, so that a model can
// mend its call, or kUnsupported: a profile that cannot be had. Code that is blank or too long is
// not an error here: it has a result of its own.
Result<ExecuteCodeArguments> ReadExecuteCodeArguments(const boost::json::object& arguments,
                                                      const RunLimits& limits,
                                                      const ProfileTable& profiles);

// The names and values of `argument`, bound before the code runs. The same errors.
Result<wire::Value::Dict> GlobalsArgument(const boost::json::object& arguments,
                                          std::string_view argument);

// The tool as clients see it.
mcp::ToolDefinition ExecuteCodeDefinition(const RunLimits& limits,
                                          const policy::ProfileOffer& offer);

}  // namespace glovebox

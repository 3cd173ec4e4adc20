#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "audit/target.h"
#include "base/result.h"
#include "mcp/tool_messages.h"

namespace glovebox::audit {

struct McpTargetOptions {
  std::vector<std::string> command = {};  // a server program on its stdin and stdout, or
  std::string url = {};                   // one that listens
  std::string token = {};                 // for the latter; may be empty
  std::string tool = {};                  // empty: the one that is known to run Python
  std::string argument = {};              // of the tool, for the code; empty: as its schema says
  boost::json::object arguments = {};     // further ones, sent with every call
};

// Any MCP server with a tool that runs Python. Connects, and finds the tool.
Result<std::unique_ptr<Target>> MakeMcpTarget(McpTargetOptions options);

// Which tool of a server runs Python, and which of its arguments is the code.
struct PythonTool {
  std::string tool;
  std::string argument;
};
// Knows `execute_code`/`code` and `run_python_code`/`python_code` by heart; otherwise the only tool
// with one required argument that is a text called like code. kInvalidArgument names the tools.
Result<PythonTool> ChoosePythonTool(const std::vector<mcp::ToolDefinition>& tools,
                                    const std::string& tool, const std::string& argument);

}  // namespace glovebox::audit

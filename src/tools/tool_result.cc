#include "tools/tool_result.h"

#include <utility>

#include "mcp/json_writer.h"

namespace glovebox {

mcp::CallToolResult ToToolResult(boost::json::object document) {
  mcp::CallToolResult result;
  result.content.push_back(mcp::Text(mcp::WriteJson(document)));
  result.structured_content = std::move(document);
  return result;
}

mcp::CallToolResult ToToolResult(const Error& error) {
  mcp::CallToolResult result;
  result.content.push_back(mcp::Text(error.message()));
  result.is_error = true;
  return result;
}

}  // namespace glovebox

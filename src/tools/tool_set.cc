#include <string>
#include <utility>

#include "base/result.h"
#include "tools/tool.h"

namespace glovebox {

void ToolSet::Add(std::unique_ptr<Tool> tool) {
  CHECK(Find(tool->definition().name) == nullptr);
  tools_.push_back(std::move(tool));
}

Tool* ToolSet::Find(std::string_view name) const {
  for (const auto& tool : tools_) {
    if (tool->definition().name == name) return tool.get();
  }
  return nullptr;
}

void ToolSet::Register(mcp::Router& router) {
  router.Handle<mcp::ListToolsParams, mcp::ListToolsResult>(
      "tools/list", [this](const mcp::ListToolsParams& params, const auto& responder) {
        // Everything fits one page, so no cursor was ever handed out.
        if (params.cursor) {
          return responder.Fail(Error(Errc::kInvalidArgument, "Unknown cursor: " + *params.cursor));
        }
        mcp::ListToolsResult result;
        for (const auto& tool : tools_) result.tools.push_back(tool->definition());
        responder.Reply(result);
      });
  router.Handle<mcp::CallToolParams, mcp::CallToolResult>(
      "tools/call", [this](const mcp::CallToolParams& params, ToolResponder responder) {
        Tool* tool = Find(params.name);
        if (tool == nullptr) {
          return responder.Fail(Error(Errc::kInvalidArgument, "Unknown tool: " + params.name));
        }
        tool->Call(params.arguments, std::move(responder));
      });
}

}  // namespace glovebox

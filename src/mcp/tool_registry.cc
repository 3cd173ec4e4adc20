#include "mcp/tool_registry.h"

#include <utility>

#include <boost/json/array.hpp>

#include "base/result.h"
#include "mcp/header_parameter.h"
#include "mcp/list_method.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

class FunctionTool final : public Tool {
 public:
  FunctionTool(ToolDefinition definition, ToolRegistry::Handler handler)
      : definition_(std::move(definition)), handler_(std::move(handler)) {}

  const ToolDefinition& definition() const override { return definition_; }
  void Call(const json::object& arguments, ToolResponder responder) override {
    handler_(arguments, std::move(responder));
  }

 private:
  const ToolDefinition definition_;
  const ToolRegistry::Handler handler_;
};

RpcError NeedsTasks(const std::string& tool, ProtocolVersion version) {
  if (!IsModern(version)) {
    return {kMethodNotFound, "Tool " + tool + " needs the tasks extension of 2026-07-28"};
  }
  return MissingCapability({{"extensions", {{kTasksExtension, json::object()}}}});
}

}  // namespace

void ToolRegistry::Add(std::unique_ptr<Tool> tool) {
  const ToolDefinition& definition = tool->definition();
  CHECK(Find(definition.name) == nullptr);
  // A client that meets one broken rule drops the whole tool, so better nobody ever does.
  auto header_parameters = FindHeaderParameters(definition.input_schema);
  CHECK(header_parameters.ok());
  tools_.push_back({std::move(tool), std::move(*header_parameters)});
}

void ToolRegistry::Add(ToolDefinition definition, Handler handler) {
  Add(std::make_unique<FunctionTool>(std::move(definition), std::move(handler)));
}

const ToolRegistry::Entry* ToolRegistry::Find(std::string_view name) const {
  for (const Entry& entry : tools_) {
    if (entry.tool->definition().name == name) return &entry;
  }
  return nullptr;
}

const std::vector<HeaderParameter>& ToolRegistry::HeaderParametersOf(std::string_view tool) const {
  static const std::vector<HeaderParameter> none;
  const Entry* entry = Find(tool);
  return entry != nullptr ? entry->header_parameters : none;
}

void ToolRegistry::Register(Router& router, CacheHint cache, std::size_t page_items_max) {
  HandleList<ToolDefinition>(
      router, "tools/list", tools_, {cache, page_items_max},
      [](const Entry& entry) -> const ToolDefinition& { return entry.tool->definition(); });
  router.Handle<CallToolParams, CallToolResult>(
      "tools/call", [this](const CallToolParams& params, ToolResponder responder) {
        const Entry* entry = Find(params.name);
        if (entry == nullptr) {
          return responder.Fail(Error(Errc::kInvalidArgument, "Unknown tool: " + params.name));
        }
        const CallContext& context = responder.context();
        // Checked before the handler runs: it may have effects long before it would be a task.
        if (entry->tool->definition().tasks == TaskSupport::kRequired &&
            !(IsModern(context.version) && context.capabilities.tasks)) {
          return responder.Fail(NeedsTasks(params.name, context.version));
        }
        entry->tool->Call(params.arguments, std::move(responder));
      });
}

}  // namespace glovebox::mcp

#include "tools/list_capabilities_tool.h"

#include <string>
#include <utility>

#include <boost/json/array.hpp>

#include "base/text.h"
#include "tools/arguments.h"
#include "tools/schema.h"
#include "tools/tool_result.h"

namespace glovebox {
namespace {

namespace json = boost::json;

json::object Answer(const RunLimits& limits, const policy::ProfileOffer& offer,
                    const std::vector<std::string>& missing_walls,
                    const ContainerTerms& containers) {
  const policy::ProfileChoice choice = offer.Default();
  json::object answer;
  answer["sandbox_type"] = "A fresh box of Linux kernel isolation per call, and a language layer";
  answer["restricted_python_available"] = choice.language_layer;
  answer["container_runtime_available"] = !containers.runtime.empty();
  answer["container_mode_enabled"] = containers.enabled;
  answer["limits"] = {{"default_timeout", limits.timeout_s_default},
                      {"max_timeout", limits.timeout_s_max},
                      {"default_memory_limit", SizeText(choice.memory_bytes)},
                      {"max_output_size", limits.output_chars_max}};
  answer["safe_modules"] = json::array(choice.modules.begin(), choice.modules.end());
  answer["security_features"] =
      WallsInWords(json::array(missing_walls.begin(), missing_walls.end()));
  answer["default_profile"] = choice.name();
  return answer;
}

mcp::ToolDefinition Definition() {
  mcp::ToolDefinition tool;
  tool.name = "list_capabilities";
  tool.title = "What the sandbox can do, in short";
  tool.description =
      "Tells the limits, modules and protections of execute_code in the shape of an older server. "
      "get_sandbox_info tells more. Takes no arguments.";
  tool.input_schema = InputSchema({}, {});
  json::object all;
  all["sandbox_type"] = Property("string", "How code is isolated, in words.");
  all["restricted_python_available"] =
      Property("boolean", "Whether a language layer checks code of the default profile.");
  all["container_runtime_available"] =
      Property("boolean", "Whether use_container of execute_code gets a container.");
  all["container_mode_enabled"] = Property("boolean", "Whether the operator turned it on.");
  all["limits"] = Property(
      "object", "default_timeout, max_timeout (seconds), default_memory_limit, max_output_size.");
  all["safe_modules"] = ListProperty("string", "Modules of the default profile.");
  all["security_features"] = ListProperty("string", "What keeps code in its box.");
  all["default_profile"] = Property("string", "What a call without `profile` gets.");
  tool.output_schema =
      OutputSchema(std::move(all), {"sandbox_type", "limits", "safe_modules", "security_features"});
  tool.annotations = OnlyTells();
  tool.icons = ToolIcons();
  return tool;
}

}  // namespace

ListCapabilitiesTool::ListCapabilitiesTool(RunLimits limits, const policy::ProfileOffer& offer,
                                           const std::vector<std::string>& missing_walls,
                                           const ContainerTerms& containers)
    : answer_(Answer(limits, offer, missing_walls, containers)), definition_(Definition()) {}

void ListCapabilitiesTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  const Status names = CheckArgumentNames(arguments, "list_capabilities", {});
  responder.Reply(names ? ToToolResult(answer_) : ToToolResult(names.error()));
}

}  // namespace glovebox

#include "mcp/tool_registry.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <boost/json/array.hpp>

#include "base/result.h"
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

// RFC 9110, section 5.6.2.
bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Finds every x-mcp-header of a schema and holds it to the rules: a client that meets one broken
// rule drops the whole tool, so better nobody ever does.
class HeaderParameterFinder {
 public:
  std::vector<HeaderParameter> Find(const json::object& schema) {
    Walk(schema, true);
    return std::move(found_);
  }

 private:
  static constexpr std::string_view kKeyword = "x-mcp-header";

  // `reachable`: the way here leads through nothing but `properties`.
  void Walk(const json::object& schema, bool reachable) {
    for (const auto& member : schema) {
      const std::string_view key = member.key();
      const json::value& value = member.value();
      if (key == kKeyword) {
        CHECK(reachable && !path_.empty());
        Take(schema, value);
      } else if (key == "properties") {
        WalkNamed(value, reachable);
      } else if (key == "$defs" || key == "patternProperties" || key == "dependentSchemas") {
        WalkNamed(value, false);
      } else if (key != "const" && key != "default" && key != "enum" && key != "examples") {
        WalkAny(value);
      }
    }
  }

  // An object whose keys are names of schemas.
  void WalkNamed(const json::value& schemas, bool reachable) {
    if (!schemas.is_object()) return;
    for (const auto& member : schemas.get_object()) {
      if (!member.value().is_object()) continue;
      path_.emplace_back(member.key());
      Walk(member.value().get_object(), reachable);
      path_.pop_back();
    }
  }

  void WalkAny(const json::value& value) {
    if (value.is_object()) return Walk(value.get_object(), false);
    if (!value.is_array()) return;
    for (const json::value& element : value.get_array()) WalkAny(element);
  }

  void Take(const json::object& schema, const json::value& header) {
    CHECK(header.is_string());
    const std::string_view name = header.get_string();
    CHECK(IsToken(name));
    for (const HeaderParameter& other : found_) CHECK(!EqualWithoutCase(other.header, name));
    const json::value* type = schema.if_contains("type");
    CHECK(type != nullptr && (*type == "string" || *type == "integer" || *type == "boolean"));
    found_.push_back({std::string(name), path_});
  }

  std::vector<std::string> path_;
  std::vector<HeaderParameter> found_;
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
  auto header_parameters = HeaderParameterFinder().Find(definition.input_schema);
  tools_.push_back({std::move(tool), std::move(header_parameters)});
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

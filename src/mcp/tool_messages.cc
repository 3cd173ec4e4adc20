#include "mcp/tool_messages.h"

#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

// Clients of the legacy era throw the whole list away for one schema that is not of this kind.
bool IsObjectSchema(const json::object& schema) {
  const json::value* type = schema.if_contains("type");
  return type != nullptr && *type == "object";
}

bool TakesOutputSchema(const json::object& schema, ProtocolVersion version) {
  if (schema.empty() || version < ProtocolVersion::k2025_06_18) return false;
  return IsModern(version) || IsObjectSchema(schema);
}

bool TakesStructuredContent(const json::value& content, ProtocolVersion version) {
  if (version < ProtocolVersion::k2025_06_18) return false;
  return IsModern(version) || content.is_object();
}

json::object ToJson(const ToolAnnotations& annotations) {
  return {{"readOnlyHint", annotations.read_only_hint},
          {"destructiveHint", annotations.destructive_hint},
          {"idempotentHint", annotations.idempotent_hint},
          {"openWorldHint", annotations.open_world_hint}};
}

}  // namespace

template <>
Result<CallToolParams> ParamsFromJson(const json::object& params) {
  CallToolParams result;
  result.name = TRY(RequiredString(params, "name"));
  if (const json::object* object = TRY(ObjectField(params, "arguments"))) {
    result.arguments = *object;
  }
  return result;
}

json::object ToJson(const ToolDefinition& tool, ProtocolVersion version) {
  json::object object = {{"name", tool.name}};
  AddTitle(object, tool.title, version);
  AddText(object, "description", tool.description);
  object.emplace("inputSchema", tool.input_schema);
  if (TakesOutputSchema(tool.output_schema, version)) {
    object.emplace("outputSchema", tool.output_schema);
  }
  if (version >= ProtocolVersion::k2025_03_26) {
    json::object annotations = ToJson(tool.annotations);
    // The one revision that has titles here and nowhere else.
    if (version == ProtocolVersion::k2025_03_26) AddText(annotations, "title", tool.title);
    object.emplace("annotations", std::move(annotations));
  }
  AddIcons(object, tool.icons, version);
  if (version >= ProtocolVersion::k2025_06_18 && !tool.meta.empty()) {
    object.emplace("_meta", tool.meta);
  }
  return object;
}

json::object ToJson(CallToolResult result, ProtocolVersion version) {
  json::array content;
  content.reserve(result.content.size());
  for (const ContentBlock& block : result.content) content.emplace_back(ToJson(block, version));
  json::object object;
  object.emplace("content", std::move(content));
  if (result.structured_content && TakesStructuredContent(*result.structured_content, version)) {
    object.emplace("structuredContent", std::move(*result.structured_content));
  }
  object.emplace("isError", result.is_error);
  return object;
}

}  // namespace glovebox::mcp

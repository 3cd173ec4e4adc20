#include "mcp/protocol.h"

#include <array>
#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

constexpr std::array<std::pair<ProtocolVersion, std::string_view>, 4> kVersions = {{
    {ProtocolVersion::k2024_11_05, "2024-11-05"},
    {ProtocolVersion::k2025_03_26, "2025-03-26"},
    {ProtocolVersion::k2025_06_18, "2025-06-18"},
    {ProtocolVersion::k2025_11_25, "2025-11-25"},
}};

Error Wrong(std::string_view field, std::string_view rule) {
  return Error(Errc::kInvalidArgument,
               "params." + std::string(field) + " must be " + std::string(rule));
}

// Null when the field is absent.
Result<const json::object*> ObjectField(const json::object& params, std::string_view field) {
  const json::value* value = params.if_contains(field);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) return Wrong(field, "an object");
  return &value->get_object();
}

Result<std::optional<std::string>> StringField(const json::object& params, std::string_view field) {
  const json::value* value = params.if_contains(field);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return Wrong(field, "a string");
  return std::optional<std::string>(std::string(value->get_string()));
}

Result<std::string> RequiredString(const json::object& params, std::string_view field) {
  auto text = TRY(StringField(params, field));
  if (!text) return Wrong(field, "given");
  return std::move(*text);
}

// Only for logs and displays, so a missing or odd field is no reason to refuse a client.
Implementation ReadImplementation(const json::object& object) {
  const auto text = [&object](std::string_view field) {
    const json::value* value = object.if_contains(field);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  };
  return {text("name"), text("title"), text("version")};
}

json::object ToJson(const Implementation& implementation, ProtocolVersion version) {
  json::object object = {{"name", implementation.name}, {"version", implementation.version}};
  if (version >= ProtocolVersion::k2025_06_18 && !implementation.title.empty()) {
    object["title"] = implementation.title;
  }
  return object;
}

}  // namespace

std::string_view VersionName(ProtocolVersion version) {
  for (const auto& [value, name] : kVersions) {
    if (value == version) return name;
  }
  CHECK(false);
}

std::optional<ProtocolVersion> VersionFromName(std::string_view name) {
  for (const auto& [value, known_name] : kVersions) {
    if (known_name == name) return value;
  }
  return std::nullopt;
}

template <>
Result<EmptyParams> ParamsFromJson(const json::object&) {
  return EmptyParams{};
}

template <>
Result<RequestMeta> ParamsFromJson(const json::object& params) {
  RequestMeta meta;
  const json::object* object = TRY(ObjectField(params, "_meta"));
  if (object == nullptr) return meta;
  if (const json::value* token = object->if_contains("progressToken")) {
    meta.progress_token = RequestIdFromJson(*token);
    if (!meta.progress_token) return Wrong("_meta.progressToken", "a string or an integer");
  }
  return meta;
}

template <>
Result<InitializeParams> ParamsFromJson(const json::object& params) {
  InitializeParams result;
  result.protocol_version = TRY(RequiredString(params, "protocolVersion"));
  if (const json::object* object = TRY(ObjectField(params, "capabilities"))) {
    result.capabilities = *object;
  }
  if (const json::object* object = TRY(ObjectField(params, "clientInfo"))) {
    result.client_info = ReadImplementation(*object);
  }
  return result;
}

template <>
Result<CancelledParams> ParamsFromJson(const json::object& params) {
  const json::value* value = params.if_contains("requestId");
  auto id = value != nullptr ? RequestIdFromJson(*value) : std::nullopt;
  if (!id) return Wrong("requestId", "a string or an integer");
  auto reason = TRY(StringField(params, "reason"));
  return CancelledParams{std::move(*id), std::move(reason).value_or("")};
}

template <>
Result<ListToolsParams> ParamsFromJson(const json::object& params) {
  return ListToolsParams{TRY(StringField(params, "cursor"))};
}

template <>
Result<CallToolParams> ParamsFromJson(const json::object& params) {
  CallToolParams result;
  result.name = TRY(RequiredString(params, "name"));
  if (const json::object* object = TRY(ObjectField(params, "arguments"))) {
    result.arguments = *object;
  }
  return result;
}

json::object ToJson(const InitializeResult& result, ProtocolVersion version) {
  json::object object = {{"protocolVersion", VersionName(result.protocol_version)},
                         {"capabilities", result.capabilities},
                         {"serverInfo", ToJson(result.server_info, version)}};
  if (!result.instructions.empty()) object["instructions"] = result.instructions;
  return object;
}

json::object ToJson(const ToolDefinition& tool, ProtocolVersion version) {
  json::object object = {{"name", tool.name}};
  if (version >= ProtocolVersion::k2025_06_18 && !tool.title.empty()) object["title"] = tool.title;
  object["description"] = tool.description;
  object["inputSchema"] = tool.input_schema;
  if (version >= ProtocolVersion::k2025_06_18 && !tool.output_schema.empty()) {
    object["outputSchema"] = tool.output_schema;
  }
  if (version >= ProtocolVersion::k2025_03_26) {
    object["annotations"] = {{"readOnlyHint", tool.annotations.read_only_hint},
                             {"destructiveHint", tool.annotations.destructive_hint},
                             {"idempotentHint", tool.annotations.idempotent_hint},
                             {"openWorldHint", tool.annotations.open_world_hint}};
  }
  return object;
}

json::object ToJson(const ListToolsResult& result, ProtocolVersion version) {
  json::array tools;
  for (const ToolDefinition& tool : result.tools) tools.push_back(ToJson(tool, version));
  json::object object;
  object["tools"] = std::move(tools);
  return object;
}

json::object ToJson(const CallToolResult& result, ProtocolVersion version) {
  json::array content;
  for (const std::string& text : result.text) {
    content.push_back(json::object{{"type", "text"}, {"text", text}});
  }
  json::object object;
  object["content"] = std::move(content);
  if (version >= ProtocolVersion::k2025_06_18 && result.structured_content) {
    object["structuredContent"] = *result.structured_content;
  }
  object["isError"] = result.is_error;
  return object;
}

json::object ToJson(const Progress& progress, const ProgressToken& token, ProtocolVersion version) {
  json::object object = {{"progressToken", ToJson(token)}, {"progress", progress.progress}};
  if (progress.total) object["total"] = *progress.total;
  if (version >= ProtocolVersion::k2025_03_26 && !progress.message.empty()) {
    object["message"] = progress.message;
  }
  return object;
}

}  // namespace glovebox::mcp

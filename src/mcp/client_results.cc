#include "mcp/client_results.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "mcp/json_writer.h"
#include "mcp/modern_names.h"
#include "mcp/result_reader.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

ResultReader OfResult(const json::object& result) { return {result, "result"}; }

Result<std::vector<Icon>> ReadIcons(const ResultReader& reader) {
  return reader.List<Icon>("icons", [](const ResultReader& icon) -> Result<Icon> {
    return Icon{TRY(icon.RequiredText("src")), TRY(icon.Text("mimeType")),
                TRY(icon.Texts("sizes"))};
  });
}

Result<Annotations> ReadAnnotations(const ResultReader& reader) {
  const auto inner = TRY(reader.Inner("annotations"));
  if (!inner) return Annotations();
  return Annotations{TRY(inner->Texts("audience")), TRY(inner->Number("priority")),
                     TRY(inner->Text("lastModified"))};
}

Result<CacheHint> ReadCacheHint(const ResultReader& reader) {
  CacheHint cache;
  cache.ttl_ms = static_cast<std::int64_t>(TRY(reader.Count("ttlMs")).value_or(0));
  cache.is_public = TRY(reader.Text("cacheScope")) == "public";
  return cache;
}

Result<ResourceContents> ReadContents(const ResultReader& reader) {
  ResourceContents contents;
  contents.uri = TRY(reader.RequiredText("uri"));
  contents.mime_type = TRY(reader.Text("mimeType"));
  contents.blob = TRY(reader.OptionalText("blob"));
  const auto text = TRY(reader.OptionalText("text"));
  if (!text && !contents.blob) return reader.Wrong("text", "a string, unless there is a blob");
  contents.text = text.value_or("");
  return contents;
}

Result<ResourceLink> ReadLink(const ResultReader& reader) {
  return ResourceLink{TRY(reader.RequiredText("uri")), TRY(reader.RequiredText("name")),
                      TRY(reader.Text("title")), TRY(reader.Text("description")),
                      TRY(reader.Text("mimeType"))};
}

Result<ContentBlock> ReadBlock(const ResultReader& reader) {
  ContentBlock block;
  block.annotations = TRY(ReadAnnotations(reader));
  const std::string type = TRY(reader.RequiredText("type"));
  if (type == "text") {
    block.body = TextContent{TRY(reader.RequiredText("text"))};
  } else if (type == "image") {
    block.body =
        ImageContent{TRY(reader.RequiredText("data")), TRY(reader.RequiredText("mimeType"))};
  } else if (type == "audio") {
    block.body =
        AudioContent{TRY(reader.RequiredText("data")), TRY(reader.RequiredText("mimeType"))};
  } else if (type == "resource_link") {
    block.body = TRY(ReadLink(reader));
  } else if (type == "resource") {
    block.body = EmbeddedResource{TRY(ReadContents(TRY(reader.RequiredInner("resource"))))};
  } else {
    return reader.Wrong("type", "text, image, audio, resource_link or resource");
  }
  return block;
}

Result<ToolAnnotations> ReadToolAnnotations(const ResultReader& reader) {
  ToolAnnotations hints;
  const auto inner = TRY(reader.Inner("annotations"));
  if (!inner) return hints;
  hints.read_only_hint = TRY(inner->Flag("readOnlyHint", hints.read_only_hint));
  hints.destructive_hint = TRY(inner->Flag("destructiveHint", hints.destructive_hint));
  hints.idempotent_hint = TRY(inner->Flag("idempotentHint", hints.idempotent_hint));
  hints.open_world_hint = TRY(inner->Flag("openWorldHint", hints.open_world_hint));
  return hints;
}

Result<ToolDefinition> ReadItem(const ResultReader& reader, ToolDefinition tool) {
  tool.name = TRY(reader.RequiredText("name"));
  tool.title = TRY(reader.Text("title"));
  tool.description = TRY(reader.Text("description"));
  TRY(reader.RequiredInner("inputSchema"));
  tool.input_schema = TRY(reader.Object("inputSchema"));
  tool.output_schema = TRY(reader.Object("outputSchema"));
  tool.annotations = TRY(ReadToolAnnotations(reader));
  tool.icons = TRY(ReadIcons(reader));
  tool.meta = TRY(reader.Object("_meta"));
  return tool;
}

// What resources and their templates have in common.
template <typename Definition>
Result<Definition> ReadResource(const ResultReader& reader, Definition definition) {
  definition.name = TRY(reader.RequiredText("name"));
  definition.title = TRY(reader.Text("title"));
  definition.description = TRY(reader.Text("description"));
  definition.mime_type = TRY(reader.Text("mimeType"));
  definition.annotations = TRY(ReadAnnotations(reader));
  definition.icons = TRY(ReadIcons(reader));
  return definition;
}

Result<ResourceDefinition> ReadItem(const ResultReader& reader, ResourceDefinition resource) {
  resource.uri = TRY(reader.RequiredText("uri"));
  resource.size = TRY(reader.Count("size"));
  return ReadResource(reader, std::move(resource));
}

Result<ResourceTemplateDefinition> ReadItem(const ResultReader& reader,
                                            ResourceTemplateDefinition resource) {
  resource.uri_template = TRY(reader.RequiredText("uriTemplate"));
  return ReadResource(reader, std::move(resource));
}

Result<PromptDefinition> ReadItem(const ResultReader& reader, PromptDefinition prompt) {
  prompt.name = TRY(reader.RequiredText("name"));
  prompt.title = TRY(reader.Text("title"));
  prompt.description = TRY(reader.Text("description"));
  prompt.arguments = TRY(reader.List<PromptArgument>(
      "arguments", [](const ResultReader& argument) -> Result<PromptArgument> {
        return PromptArgument{TRY(argument.RequiredText("name")), TRY(argument.Text("description")),
                              TRY(argument.Flag("required", false))};
      }));
  prompt.icons = TRY(ReadIcons(reader));
  return prompt;
}

template <typename Item>
Result<ListPage<Item>> ReadList(const json::object& result) {
  const ResultReader reader = OfResult(result);
  ListPage<Item> list;
  list.items = TRY(reader.RequiredList<Item>(
      Item::kListKey, [](const ResultReader& item) { return ReadItem(item, Item()); }));
  list.next_cursor = TRY(reader.OptionalText("nextCursor"));
  list.cache = TRY(ReadCacheHint(reader));
  return list;
}

Result<PromptMessage> ReadMessage(const ResultReader& reader) {
  PromptMessage message;
  const std::string role = TRY(reader.RequiredText("role"));
  if (role != "user" && role != "assistant") return reader.Wrong("role", "user or assistant");
  message.role = role == "user" ? Role::kUser : Role::kAssistant;
  message.content = TRY(ReadBlock(TRY(reader.RequiredInner("content"))));
  return message;
}

}  // namespace

template <>
Result<InitializeResult> ResultFromJson(const json::object& result) {
  const ResultReader reader = OfResult(result);
  InitializeResult welcome;
  const std::string version = TRY(reader.RequiredText("protocolVersion"));
  const auto known = VersionFromName(version);
  if (!known || IsModern(*known)) {
    return Error(Errc::kUnsupported, "the server wants protocol version " + Quoted(version) +
                                         ", which this client does not speak");
  }
  welcome.protocol_version = *known;
  TRY(reader.RequiredInner("capabilities"));
  welcome.capabilities = TRY(reader.Object("capabilities"));
  welcome.server_info = ImplementationFromJson(TRY(reader.Object("serverInfo")));
  welcome.instructions = TRY(reader.Text("instructions"));
  return welcome;
}

template <>
Result<DiscoverResult> ResultFromJson(const json::object& result) {
  const ResultReader reader = OfResult(result);
  DiscoverResult discovered;
  if (reader.Find("supportedVersions") == nullptr) {
    return reader.Wrong("supportedVersions", "an array of strings");
  }
  for (const std::string& name : TRY(reader.Texts("supportedVersions"))) {
    if (const auto version = VersionFromName(name)) {
      discovered.supported_versions.push_back(*version);
    }
  }
  TRY(reader.RequiredInner("capabilities"));
  discovered.capabilities = TRY(reader.Object("capabilities"));
  discovered.instructions = TRY(reader.Text("instructions"));
  discovered.cache = TRY(ReadCacheHint(reader));
  return discovered;
}

template <>
Result<ListPage<ToolDefinition>> ResultFromJson(const json::object& result) {
  return ReadList<ToolDefinition>(result);
}

template <>
Result<ListPage<ResourceDefinition>> ResultFromJson(const json::object& result) {
  return ReadList<ResourceDefinition>(result);
}

template <>
Result<ListPage<ResourceTemplateDefinition>> ResultFromJson(const json::object& result) {
  return ReadList<ResourceTemplateDefinition>(result);
}

template <>
Result<ListPage<PromptDefinition>> ResultFromJson(const json::object& result) {
  return ReadList<PromptDefinition>(result);
}

template <>
Result<CallToolResult> ResultFromJson(const json::object& result) {
  const ResultReader reader = OfResult(result);
  CallToolResult answer;
  answer.content = TRY(reader.RequiredList<ContentBlock>("content", ReadBlock));
  if (const json::value* structured = result.if_contains("structuredContent")) {
    answer.structured_content = *structured;
  }
  answer.is_error = TRY(reader.Flag("isError", false));
  return answer;
}

template <>
Result<ReadResourceResult> ResultFromJson(const json::object& result) {
  const ResultReader reader = OfResult(result);
  ReadResourceResult answer;
  answer.contents = TRY(reader.RequiredList<ResourceContents>("contents", ReadContents));
  answer.cache = TRY(ReadCacheHint(reader));
  return answer;
}

template <>
Result<GetPromptResult> ResultFromJson(const json::object& result) {
  const ResultReader reader = OfResult(result);
  GetPromptResult answer;
  answer.description = TRY(reader.Text("description"));
  answer.messages = TRY(reader.RequiredList<PromptMessage>("messages", ReadMessage));
  return answer;
}

template <>
Result<CompleteResult> ResultFromJson(const json::object& result) {
  const ResultReader reader = TRY(OfResult(result).RequiredInner("completion"));
  CompleteResult answer;
  answer.values = TRY(reader.Texts("values"));
  answer.total = TRY(reader.Count("total"));
  answer.has_more = TRY(reader.Flag("hasMore", false));
  return answer;
}

template <>
Result<EmptyResult> ResultFromJson(const json::object&) {
  return EmptyResult();
}

Result<ServerCapabilities> ServerCapabilitiesFromJson(const json::object& capabilities) {
  const ResultReader reader(capabilities, "result.capabilities");
  ServerCapabilities can;
  const auto listed = [&reader](std::string_view name, bool& offered, bool& changes) -> Status {
    const auto inner = TRY(reader.Inner(name));
    offered = inner.has_value();
    if (inner) changes = TRY(inner->Flag("listChanged", false));
    return {};
  };
  TRY(listed("tools", can.tools, can.tools_change));
  TRY(listed("resources", can.resources, can.resources_change));
  TRY(listed("prompts", can.prompts, can.prompts_change));
  if (const auto resources = TRY(reader.Inner("resources"))) {
    can.resources_subscribe = TRY(resources->Flag("subscribe", false));
  }
  can.completions = TRY(reader.Inner("completions")).has_value();
  can.logging = TRY(reader.Inner("logging")).has_value();
  if (const auto extensions = TRY(reader.Inner("extensions"))) {
    can.tasks = TRY(extensions->Inner(kTasksExtension)).has_value();
  }
  return can;
}

Implementation ServerInfoFromMeta(const json::object& result) {
  const json::value* meta = result.if_contains("_meta");
  const json::value* info = meta != nullptr && meta->is_object()
                                ? meta->get_object().if_contains(kServerInfoKey)
                                : nullptr;
  if (info == nullptr || !info->is_object()) return {};
  return ImplementationFromJson(info->get_object());
}

Result<ProgressReport> ProgressFromJson(const json::object& params) {
  const ResultReader reader(params, "params");
  const json::value* token = reader.Find("progressToken");
  auto id = token != nullptr ? RequestIdFromJson(*token) : std::nullopt;
  if (!id) return reader.Wrong("progressToken", "a string or an integer");
  const auto number = TRY(reader.Number("progress"));
  if (!number) return reader.Wrong("progress", "a number");
  return ProgressReport{std::move(*id),
                        {*number, TRY(reader.Number("total")), TRY(reader.Text("message"))}};
}

Result<LogMessage> LogMessageFromJson(const json::object& params) {
  const ResultReader reader(params, "params");
  const auto level = LogLevelFromName(TRY(reader.RequiredText("level")));
  if (!level) return reader.Wrong("level", "one of debug to emergency");
  const json::value* data = params.if_contains("data");
  if (data == nullptr) return reader.Wrong("data", "given");
  return LogMessage{*level, TRY(reader.Text("logger")), *data};
}

Result<TaskStatus> TaskStatusFromJson(const json::object& result) {
  constexpr std::array<std::string_view, 5> kStates = {"working", "input_required", "completed",
                                                       "failed", "cancelled"};
  const ResultReader reader = OfResult(result);
  TaskStatus status;
  status.id = TRY(reader.RequiredText("taskId"));
  const std::string state = TRY(reader.RequiredText("status"));
  const auto* const found = std::find(kStates.begin(), kStates.end(), state);
  if (found == kStates.end()) {
    return reader.Wrong("status", "working, input_required, completed, failed or cancelled");
  }
  status.state = static_cast<TaskStatus::State>(found - kStates.begin());
  status.message = TRY(reader.Text("statusMessage"));
  if (const auto interval = TRY(reader.Count("pollIntervalMs"))) {
    constexpr std::uint64_t kDay = 24 * 60 * 60 * 1000;
    status.poll_interval = std::chrono::milliseconds(std::min(*interval, kDay));
  }
  return status;
}

Error ToError(const RpcError& error) {
  const Errc code = error.code == kMethodNotFound ? Errc::kUnsupported : Errc::kInvalidArgument;
  return Error(code, "the server answered error " + std::to_string(error.code) + ": " +
                         Quoted(error.message));
}

std::string Quoted(std::string_view text) {
  constexpr std::size_t kCodePointsMax = 300;
  const std::size_t length = PrefixOfCodePoints(text, kCodePointsMax);
  const bool cut = length < text.size();
  return WriteJson(json::value(text.substr(0, length))) + (cut ? "..." : "");
}

}  // namespace glovebox::mcp

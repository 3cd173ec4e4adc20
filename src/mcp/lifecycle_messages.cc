#include "mcp/lifecycle_messages.h"

#include <array>
#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 8> kLogLevels = {"debug", "info",     "notice", "warning",
                                                        "error", "critical", "alert",  "emergency"};

// A capability is declared by an object, which may be empty. Null when it is absent.
Result<const json::object*> Declared(const json::object& capabilities, std::string_view name) {
  const json::value* value = capabilities.if_contains(name);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) {
    return Error(Errc::kInvalidArgument,
                 "the client capability \"" + std::string(name) + "\" must be an object");
  }
  return &value->get_object();
}

}  // namespace

Implementation ImplementationFromJson(const json::object& object) {
  const auto text = [&object](std::string_view field) {
    const json::value* value = object.if_contains(field);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  };
  return {text("name"), text("title"), text("version"), text("websiteUrl"), {}};
}

Result<ClientCapabilities> ClientCapabilitiesFromJson(const json::object& capabilities) {
  ClientCapabilities result;
  result.sampling = TRY(Declared(capabilities, "sampling")) != nullptr;
  result.roots = TRY(Declared(capabilities, "roots")) != nullptr;
  if (const json::object* elicitation = TRY(Declared(capabilities, "elicitation"))) {
    result.elicitation_url = TRY(Declared(*elicitation, "url")) != nullptr;
    result.elicitation_form =
        TRY(Declared(*elicitation, "form")) != nullptr || elicitation->empty();
  }
  if (const json::object* extensions = TRY(Declared(capabilities, "extensions"))) {
    result.tasks = TRY(Declared(*extensions, kTasksExtension)) != nullptr;
  }
  return result;
}

std::string_view LogLevelName(LogLevel level) {
  return kLogLevels.at(static_cast<std::size_t>(level));
}

std::optional<LogLevel> LogLevelFromName(std::string_view name) {
  for (std::size_t i = 0; i < kLogLevels.size(); ++i) {
    if (kLogLevels.at(i) == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

template <>
Result<RequestMeta> ParamsFromJson(const json::object& params) {
  RequestMeta meta;
  const json::object* object = TRY(ObjectField(params, "_meta"));
  if (object == nullptr) return meta;
  if (const json::value* token = object->if_contains("progressToken")) {
    meta.progress_token = RequestIdFromJson(*token);
    if (!meta.progress_token) return WrongField("_meta.progressToken", "a string or an integer");
  }
  return meta;
}

template <>
Result<InitializeParams> ParamsFromJson(const json::object& params) {
  InitializeParams result;
  result.protocol_version = TRY(RequiredString(params, "protocolVersion"));
  if (const json::object* object = TRY(ObjectField(params, "capabilities"))) {
    result.capabilities = TRY(ClientCapabilitiesFromJson(*object));
  }
  if (const json::object* object = TRY(ObjectField(params, "clientInfo"))) {
    result.client_info = ImplementationFromJson(*object);
  }
  return result;
}

template <>
Result<SetLevelParams> ParamsFromJson(const json::object& params) {
  const auto level = LogLevelFromName(TRY(RequiredString(params, "level")));
  if (!level) {
    return WrongField("level", "debug, info, notice, warning, error, critical, alert or emergency");
  }
  return SetLevelParams{*level};
}

template <>
Result<CancelledParams> ParamsFromJson(const json::object& params) {
  const json::value* value = params.if_contains("requestId");
  auto id = value != nullptr ? RequestIdFromJson(*value) : std::nullopt;
  if (!id) return WrongField("requestId", "a string or an integer");
  auto reason = TRY(StringField(params, "reason"));
  return CancelledParams{std::move(*id), std::move(reason).value_or("")};
}

json::object ToJson(const Implementation& implementation, ProtocolVersion version) {
  json::object object = {{"name", implementation.name}, {"version", implementation.version}};
  AddTitle(object, implementation.title, version);
  if (version >= ProtocolVersion::k2025_11_25) {
    AddText(object, "websiteUrl", implementation.website_url);
  }
  AddIcons(object, implementation.icons, version);
  return object;
}

json::object ToJson(const InitializeResult& result, ProtocolVersion version) {
  json::object object = {{"protocolVersion", VersionName(result.protocol_version)},
                         {"capabilities", result.capabilities},
                         {"serverInfo", ToJson(result.server_info, version)}};
  AddText(object, "instructions", result.instructions);
  return object;
}

json::object ToJson(const DiscoverResult& result, ProtocolVersion version) {
  json::array versions;
  for (const ProtocolVersion supported : result.supported_versions) {
    versions.emplace_back(VersionName(supported));
  }
  json::object object;
  object.emplace("supportedVersions", std::move(versions));
  object.emplace("capabilities", result.capabilities);
  AddText(object, "instructions", result.instructions);
  AddCacheHint(object, result.cache, version);
  return object;
}

json::object ToJson(const Progress& progress, const ProgressToken& token, ProtocolVersion version) {
  json::object object = {{"progressToken", ToJson(token)}, {"progress", progress.progress}};
  if (progress.total) object.emplace("total", *progress.total);
  if (version >= ProtocolVersion::k2025_03_26) AddText(object, "message", progress.message);
  return object;
}

json::object ToJson(const LogMessage& message, ProtocolVersion) {
  json::object object = {{"level", LogLevelName(message.level)}};
  AddText(object, "logger", message.logger);
  object.emplace("data", message.data);
  return object;
}

void AddCacheHint(json::object& result, const CacheHint& cache, ProtocolVersion version) {
  if (!IsModern(version)) return;
  result.emplace("ttlMs", cache.ttl_ms);
  result.emplace("cacheScope", cache.is_public ? "public" : "private");
}

}  // namespace glovebox::mcp

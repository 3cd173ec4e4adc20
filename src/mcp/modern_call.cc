#include "mcp/modern_call.h"

#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

std::string MetaField(std::string_view key) { return "_meta[\"" + std::string(key) + "\"]"; }

// What a sealed state belongs to: the same client asking for the same thing.
std::string ScopeOf(const PendingCall::Origin& origin) {
  std::string scope = origin.context.principal + '\n' + origin.method;
  for (const std::string_view field : {"name", "uri"}) {
    const json::value* value = origin.params.if_contains(field);
    if (value != nullptr && value->is_string()) {
      scope.append("\n").append(value->get_string());
    }
  }
  return scope;
}

class ModernCall final : public PendingCall {
 public:
  ModernCall(Origin origin, std::optional<LogLevel> log_level)
      : PendingCall(std::move(origin)), log_level_(log_level) {}

  // Takes what the client brings from an earlier round.
  Status ReadAnswers() {
    const json::object* answers = TRY(ObjectField(origin().params, "inputResponses"));
    if (answers != nullptr) origin().context.inputs = InputResponses(*answers);
    const auto sealed = TRY(StringField(origin().params, "requestState"));
    if (sealed) {
      origin().context.state = TRY(origin().server->sealer().Open(*sealed, ScopeOf(origin())));
    }
    return {};
  }

  void NeedInput(InputRequired input) override {
    if (!open()) return;
    if (!MayAskBack(origin().method)) {
      return Fail({kInternalError, origin().method + " cannot ask the client"});
    }
    json::object requests;
    json::object missing;
    for (const auto& [key, request] : input.requests) {
      if (!IsDeclared(request, context().capabilities)) {
        for (auto& member : RequiredCapability(request)) missing.insert(member);
      }
      requests[key] = {{"method", MethodOf(request)},
                       {"params", ParamsOf(request, context().version)}};
    }
    if (!missing.empty()) return Fail(MissingCapability(std::move(missing)));
    json::object result = {{"resultType", "input_required"}};
    if (!requests.empty()) result["inputRequests"] = std::move(requests);
    if (!input.state.empty()) {
      result["requestState"] = origin().server->sealer().Seal(input.state, ScopeOf(origin()));
    }
    Reply(std::move(result));
  }

  void Log(const LogMessage& message) override {
    if (!open() || !log_level_ || message.level < *log_level_ || origin().sink->congested()) return;
    Notify("notifications/message", ToJson(message, context().version));
  }

 private:
  json::object Decorate(json::object result) const override {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    json::value& meta = result["_meta"];
    if (!meta.is_object()) meta = json::object();
    const ServerOptions& options = origin().server->options();
    meta.get_object()[kServerInfoKey] = ToJson(options.info, context().version);
    return result;
  }

  const std::optional<LogLevel> log_level_;
};

}  // namespace

RpcError MissingCapability(json::object capabilities) {
  std::string names;
  for (const auto& member : capabilities)
    names.append(names.empty() ? "" : ", ").append(member.key());
  return {kMissingClientCapability, "the client has not declared what this needs: " + names,
          json::object{{"requiredCapabilities", std::move(capabilities)}}};
}

bool ClaimsModern(const json::object& params) {
  const json::value* meta = params.if_contains("_meta");
  return meta != nullptr && meta->is_object() && meta->get_object().contains(kVersionKey);
}

Result<Envelope> ReadEnvelope(const json::object& params) {
  Envelope envelope;
  const json::object* meta = TRY(ObjectField(params, "_meta"));
  if (meta == nullptr) return WrongField("_meta", "given: every request describes itself there");
  const json::value* version = meta->if_contains(kVersionKey);
  if (version == nullptr || !version->is_string()) {
    return WrongField(MetaField(kVersionKey), "a string");
  }
  envelope.version = version->get_string();
  const json::value* capabilities = meta->if_contains(kCapabilitiesKey);
  if (capabilities == nullptr || !capabilities->is_object()) {
    return WrongField(MetaField(kCapabilitiesKey), "an object");
  }
  envelope.capabilities = TRY(ClientCapabilitiesFromJson(capabilities->get_object()));
  if (const json::value* info = meta->if_contains(kClientInfoKey)) {
    if (!info->is_object()) return WrongField(MetaField(kClientInfoKey), "an object");
    envelope.client_info = ImplementationFromJson(info->get_object());
  }
  if (const json::value* level = meta->if_contains(kLogLevelKey)) {
    if (level->is_string()) envelope.log_level = LogLevelFromName(level->get_string());
    if (!envelope.log_level)
      return WrongField(MetaField(kLogLevelKey), "a level from debug to emergency");
  }
  envelope.meta = TRY(ParamsFromJson<RequestMeta>(params));
  return envelope;
}

std::optional<RpcError> CheckVersion(const Envelope& envelope) {
  if (envelope.version == VersionName(kModernVersion)) return std::nullopt;
  return UnsupportedVersion(envelope.version);
}

RpcError UnsupportedVersion(std::string_view requested) {
  json::array supported;
  for (const ProtocolVersion version : ServedVersions())
    supported.emplace_back(VersionName(version));
  return {kUnsupportedVersion,
          "protocol version " + std::string(requested) + " is not served this way",
          json::object{{"supported", std::move(supported)}, {"requested", requested}}};
}

std::shared_ptr<PendingCall> StartModernCall(Server& server, Request request, Envelope envelope,
                                             const std::string& principal,
                                             std::shared_ptr<MessageSink> sink,
                                             std::function<void(PendingCall&)> finished) {
  const auto refuse = [&](const RpcError& error) -> std::shared_ptr<PendingCall> {
    sink->Finish(ErrorMessage(request.id, error), &error);
    if (server.on_request) server.on_request(request.method, error.code, 0);
    return nullptr;
  };
  const Router::RawHandler* handler = server.router().Find(request.method, kModernVersion);
  if (handler == nullptr) return refuse({kMethodNotFound, "Method not found: " + request.method});
  Admission::Ticket ticket;
  // A subscription stays for as long as the client listens, and its number has a bound of its own;
  // who has every place taken by tasks must still be able to ask after them.
  const bool holds_no_place =
      request.method == "subscriptions/listen" || request.method.starts_with("tasks/");
  const auto share = holds_no_place ? Admission::Share::kRateOnly : Admission::Share::kPlace;
  if (const auto refusal = server.Admit(principal, ticket, share)) return refuse(*refusal);

  PendingCall::Origin origin;
  origin.server = &server;
  origin.id = std::move(request.id);
  origin.method = std::move(request.method);
  origin.params = std::move(request.params);
  origin.meta = std::move(envelope.meta);
  origin.context.version = kModernVersion;
  origin.context.capabilities = envelope.capabilities;
  origin.context.client_info = std::move(envelope.client_info);
  origin.context.principal = principal;
  origin.sink = std::move(sink);
  origin.ticket = std::move(ticket);
  origin.finished = std::move(finished);
  const auto call = std::make_shared<ModernCall>(std::move(origin), envelope.log_level);
  if (const Status answers = call->ReadAnswers(); !answers) {
    call->Fail(ToRpcError(answers.error()));
  } else {
    call->Run(*handler);
  }
  return call;
}

}  // namespace glovebox::mcp

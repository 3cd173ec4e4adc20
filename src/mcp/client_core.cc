#include "mcp/client_core.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/json/array.hpp>

#include "mcp/client_handshake.h"
#include "mcp/header_mirror.h"
#include "mcp/modern_names.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
constexpr std::chrono::milliseconds kListenPause{1000};
constexpr std::chrono::milliseconds kListenPauseMax{60'000};

constexpr std::array<Change::Kind, 4> kChanges = {
    Change::Kind::kToolsList, Change::Kind::kPromptsList, Change::Kind::kResourcesList,
    Change::Kind::kResourceUpdated};

Error FromServer(std::string_view what) {
  return Error(Errc::kInvalidArgument, "the server sent " + std::string(what));
}

}  // namespace

std::string DurationText(std::chrono::milliseconds time) {
  if (time.count() % 1000 == 0) return std::to_string(time.count() / 1000) + " s";
  return std::to_string(time.count()) + " ms";
}

ClientCore::ClientCore(boost::asio::any_io_executor executor,
                       std::unique_ptr<ClientChannel> channel, ClientOptions options)
    : executor_(std::move(executor)),
      channel_(std::move(channel)),
      options_(std::move(options)),
      capabilities_(CapabilitiesOf(options_.input)),
      listen_timer_(executor_) {
  capabilities_.tasks = options_.tasks;
}

ClientCore::~ClientCore() = default;

void ClientCore::Abandon() {
  abandoned_ = true;
  listen_timer_.cancel();
  // What callbacks hold may hold us, or reach back.
  const auto operations = std::exchange(operations_, {});
  for (const auto& operation : operations) operation->Discard();
  const auto wires = std::exchange(wires_, {});
  const auto handshake = std::exchange(handshake_, nullptr);
  const auto renewals = std::exchange(renewals_, {});
  closed_ = nullptr;
  channel_.reset();
}

void ClientCore::Close(std::function<void()> done) {
  if (closing_) return;
  closing_ = true;
  closed_ = std::move(done);
  listen_timer_.cancel();
  channel_->Close();
}

void ClientCore::Connect(std::function<void(Result<ServerDescription>)> callback) {
  CHECK(!handshake_ && !server_);
  handshake_ = std::make_shared<ClientHandshake>(
      *this, options_.era,
      [this, callback = std::move(callback)](Result<ServerDescription> server) {
        const auto self = shared_from_this();
        handshake_ = nullptr;
        if (server.ok()) {
          server_ = server.value();
          Subscribe();
        }
        callback(std::move(server));
      });
  handshake_->Start();
}

void ClientCore::Renew(std::function<void(const Status&)> done) {
  renewals_.push_back(std::move(done));
  if (handshake_) return;
  channel_->Restart();
  handshake_ = std::make_shared<ClientHandshake>(
      *this, EraChoice::kLegacy, [this](Result<ServerDescription> server) {
        const auto self = shared_from_this();
        handshake_ = nullptr;
        Status status;
        if (server.ok()) {
          server_ = std::move(server).value();
          Subscribe();
        } else {
          status = std::move(server).error().Within("opening a new session");
        }
        for (const auto& renewed : std::exchange(renewals_, {})) renewed(status);
      });
  handshake_->Start();
}

std::optional<Error> ClientCore::Unready() const {
  if (lost_ || closing_) return Error(Errc::kSystem, "the server is not connected any more");
  if (!server_) return Error(Errc::kInvalidArgument, "connect to the server first");
  if (wires_.size() >= options_.in_flight_max) {
    return Error(Errc::kLimit, std::to_string(options_.in_flight_max) +
                                   " requests are in flight: wait for an answer first");
  }
  return std::nullopt;
}

std::int64_t ClientCore::Send(Wire wire) {
  const std::int64_t id = ++last_id_;
  OutgoingRequest request = {id, wire.method, std::exchange(wire.params, {}),
                             std::exchange(wire.param_headers, {})};
  AddEnvelope(request.params, wire, id);
  wires_.emplace(id, std::move(wire));
  if (lost_ || closing_) {
    boost::asio::post(executor_, [weak = weak_from_this(), id] {
      if (const auto self = weak.lock()) {
        self->OnNoAnswer(id, {Error(Errc::kSystem, "the server is not connected any more")});
      }
    });
    return id;
  }
  channel_->Ask(std::move(request));
  return id;
}

void ClientCore::AddEnvelope(json::object& params, const Wire& wire, std::int64_t id) const {
  json::object meta;
  if (const json::value* given = params.if_contains("_meta"); given && given->is_object()) {
    meta = given->get_object();
  }
  if (IsModern(speaking_)) {
    meta[kVersionKey] = VersionName(speaking_);
    meta[kCapabilitiesKey] = ToJson(capabilities_, speaking_);
    meta[kClientInfoKey] = ToJson(options_.info, speaking_);
    if (options_.log_level) meta[kLogLevelKey] = LogLevelName(*options_.log_level);
  }
  if (wire.on_progress) meta["progressToken"] = id;
  if (!meta.empty()) params["_meta"] = std::move(meta);
}

void ClientCore::Withdraw(std::int64_t id, std::string_view reason) {
  const auto found = wires_.find(id);
  if (found == wires_.end()) return;
  const Wire wire = std::move(found->second);  // what its functions hold dies last
  wires_.erase(found);
  if (lost_ || closing_) return;
  if (!reason.empty() && !channel_->closing_cancels()) {
    channel_->Notify("notifications/cancelled", {{"requestId", id}, {"reason", reason}});
  }
  channel_->Forget(id);
}

void ClientCore::Add(std::shared_ptr<ClientOperation> operation) {
  operations_.insert(std::move(operation));
}

void ClientCore::Remove(ClientOperation& operation) {
  const auto found =
      std::find_if(operations_.begin(), operations_.end(),
                   [&](const auto& candidate) { return candidate.get() == &operation; });
  if (found != operations_.end()) operations_.erase(found);
}

void ClientCore::OnMessage(Message message) {
  const auto self = shared_from_this();
  if (auto* response = std::get_if<Response>(&message)) {
    HandleResponse(std::move(*response));
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    HandleNotification(*notification);
  } else if (auto* request = std::get_if<Request>(&message)) {
    HandleRequest(std::move(*request));
  } else {
    HandleInvalid(std::get<InvalidMessage>(message));
  }
}

void ClientCore::HandleResponse(Response response) {
  const auto* id = std::get_if<std::int64_t>(&response.id);
  if (id == nullptr || *id < 1 || *id > last_id_) {
    return OnMisbehaviour(FromServer("an answer to a request that was never made, id " +
                                     Quoted(ToText(response.id))));
  }
  // One that is not in flight was withdrawn: its answer was on the way.
  if (auto* error = std::get_if<RpcError>(&response.outcome)) return Settle(*id, std::move(*error));
  auto& result = std::get<json::value>(response.outcome);
  if (result.is_object()) return Settle(*id, std::move(result.get_object()));
  Settle(*id, ClientChannel::Failure{FromServer("a result that is no object")});
}

void ClientCore::HandleInvalid(const InvalidMessage& invalid) {
  const Error error = FromServer("something that is no message: " + invalid.error.message);
  const auto* id = invalid.id ? std::get_if<std::int64_t>(&*invalid.id) : nullptr;
  if (id != nullptr && wires_.contains(*id)) return Settle(*id, ClientChannel::Failure{error});
  OnMisbehaviour(error);
}

void ClientCore::OnNoAnswer(std::int64_t id, const ClientChannel::Failure& failure) {
  const auto self = shared_from_this();
  Settle(id, failure);
}

void ClientCore::Settle(std::int64_t id, Answer answer) {
  const auto found = wires_.find(id);
  if (found == wires_.end()) return;
  const Wire wire = std::move(found->second);
  wires_.erase(found);
  wire.on_answer(std::move(answer));
}

void ClientCore::OnMisbehaviour(const Error& error) {
  const auto self = shared_from_this();
  last_misbehaviour_ = error.message();
  misbehaved_at_ = Clock::now();
  if (options_.on_misbehaviour && !abandoned_) options_.on_misbehaviour(error);
}

std::string ClientCore::MisbehaviourSince(Clock::time_point time) const {
  return misbehaved_at_ >= time ? last_misbehaviour_ : "";
}

void ClientCore::OnClosed(const Status& reason) {
  const auto self = shared_from_this();
  // An old server may end at the first word it does not know; it gets a second chance.
  if (!closing_ && handshake_ && handshake_->MayBeginAgain() && channel_->Restart()) {
    wires_.clear();
    return handshake_->BeginAgain();
  }
  lost_ = true;
  listen_timer_.cancel();
  const Error error = closing_      ? Error(Errc::kSystem, "the client was closed")
                      : reason.ok() ? Error(Errc::kSystem, "the server is gone")
                                    : reason.error();
  wires_.clear();
  const auto operations = std::exchange(operations_, {});
  if (handshake_) handshake_->Lose(error);
  for (const auto& operation : operations) {
    if (!abandoned_) operation->Lose(error);
  }
  if (abandoned_) return;
  if (closing_) {
    if (const auto closed = std::exchange(closed_, nullptr)) closed();
  } else if (options_.on_lost && server_) {
    options_.on_lost(error);
  }
}

void ClientCore::HandleRequest(Request request) {
  if (modern()) {
    return OnMisbehaviour(FromServer("a request, " + Quoted(request.method) +
                                     ", which no server may do in this revision"));
  }
  const auto refuse = [&](int code, std::string why) {
    channel_->Answer(ErrorMessage(request.id, {code, std::move(why)}));
  };
  if (closing_) return;
  if (request.method == "ping") return channel_->Answer(ResultMessage(request.id, {}));
  if (!IsInputMethod(request.method)) {
    return refuse(kMethodNotFound, "Method not found: " + request.method);
  }
  const auto input = InputRequestFromJson(request.method, request.params);
  if (!input.ok()) return refuse(kInvalidParams, input.error().message());
  if (!IsDeclared(*input, capabilities_)) {
    return refuse(kMethodNotFound, "this client did not declare " + request.method);
  }
  if (!questions_.insert(request.id).second) {
    return refuse(kInvalidRequest, "id " + ToText(request.id) + " belongs to an open request");
  }
  Ask(*input, [weak = weak_from_this(), id = request.id](Result<json::object> answer) {
    const auto self = weak.lock();
    // The server may have withdrawn the question.
    if (!self || self->abandoned_ || self->questions_.erase(id) == 0) return;
    if (self->lost_ || self->closing_) return;
    self->channel_->Answer(answer.ok() ? ResultMessage(id, std::move(answer).value())
                                       : ErrorMessage(id, ToRpcError(answer.error())));
  });
}

void ClientCore::Ask(const InputRequest& request, std::function<void(Result<json::object>)> done) {
  if (open_questions_ >= options_.questions_max) {
    return done(Error(Errc::kLimit, "the server has too many questions open, limit " +
                                        std::to_string(options_.questions_max)));
  }
  ++open_questions_;
  AnswerInput(options_.input, request,
              [weak = weak_from_this(), done = std::move(done)](Result<json::object> answer) {
                const auto self = weak.lock();
                if (!self) return;
                --self->open_questions_;
                self->last_asked_ = Clock::now();
                if (!self->abandoned_) done(std::move(answer));
              });
}

Clock::time_point ClientCore::last_asked() const {
  return open_questions_ > 0 ? Clock::now() : last_asked_;
}

void ClientCore::HandleNotification(const Notification& notification) {
  const std::string& method = notification.method;
  if (method == "notifications/progress") {
    const auto report = ProgressFromJson(notification.params);
    if (!report.ok()) return OnMisbehaviour(Error(report.error()).Within(method));
    const auto* id = std::get_if<std::int64_t>(&report->token);
    const auto found = id != nullptr ? wires_.find(*id) : wires_.end();
    if (found == wires_.end() || !found->second.on_progress) return;
    const auto on_progress = found->second.on_progress;  // it may end the request
    return on_progress(report->progress);
  }
  if (method == "notifications/message") {
    const auto message = LogMessageFromJson(notification.params);
    if (!message.ok()) return OnMisbehaviour(Error(message.error()).Within(method));
    if (options_.on_log) options_.on_log(*message);
    return;
  }
  if (method == "notifications/cancelled") {
    const auto cancelled = ParamsFromJson<CancelledParams>(notification.params);
    if (!cancelled.ok()) return OnMisbehaviour(Error(cancelled.error()).Within(method));
    questions_.erase(cancelled->request_id);
    return;
  }
  if (method == "notifications/subscriptions/acknowledged" || HandleChange(notification)) return;
  if (options_.on_notification) options_.on_notification(method, notification.params);
}

bool ClientCore::HandleChange(const Notification& notification) {
  const auto* const kind = std::find_if(
      kChanges.begin(), kChanges.end(),
      [&](Change::Kind candidate) { return MethodOf(candidate) == notification.method; });
  if (kind == kChanges.end()) return false;
  if (modern()) {
    const json::value* meta = notification.params.if_contains("_meta");
    const json::value* id = meta != nullptr && meta->is_object()
                                ? meta->get_object().if_contains(kSubscriptionKey)
                                : nullptr;
    if (listen_id_ == 0 || id == nullptr || *id != json::value(listen_id_)) {
      OnMisbehaviour(FromServer(notification.method + " for a subscription that does not exist"));
      return true;
    }
  }
  Change change{*kind, {}};
  if (*kind == Change::Kind::kResourceUpdated) {
    const json::value* uri = notification.params.if_contains("uri");
    if (uri == nullptr || !uri->is_string()) {
      OnMisbehaviour(FromServer(notification.method + " without a uri"));
      return true;
    }
    change.uri = std::string(uri->get_string());
  }
  if (options_.on_change) options_.on_change(change);
  return true;
}

void ClientCore::Subscribe() {
  const auto ignore = [](const Answer&) {};
  if (modern()) return Listen();
  if (options_.log_level && server_->capabilities.logging) {
    Send({.method = "logging/setLevel",
          .params = {{"level", LogLevelName(*options_.log_level)}},
          .on_answer = ignore});
  }
  if (!server_->capabilities.resources_subscribe) return;
  for (const std::string& uri : options_.watched_resources) {
    Send({.method = "resources/subscribe", .params = {{"uri", uri}}, .on_answer = ignore});
  }
}

void ClientCore::Listen() {
  const ServerCapabilities& can = server_->capabilities;
  json::object wanted;
  if (can.tools_change) wanted["toolsListChanged"] = true;
  if (can.prompts_change) wanted["promptsListChanged"] = true;
  if (can.resources_change) wanted["resourcesListChanged"] = true;
  const auto& watched = options_.watched_resources;
  if (can.resources_subscribe && !watched.empty()) {
    wanted["resourceSubscriptions"] = json::array(watched.begin(), watched.end());
  }
  if (!options_.on_change || wanted.empty() || lost_ || closing_) return;
  const auto begun = Clock::now();
  listen_id_ = Send({.method = "subscriptions/listen",
                     .params = {{"notifications", std::move(wanted)}},
                     .on_answer = [this, begun](const Answer& answer) {
                       listen_id_ = 0;
                       const auto* error = std::get_if<RpcError>(&answer);
                       if (error != nullptr && error->code == kMethodNotFound) return;
                       // A server that goes away ends the stream; one that refuses it is not to be
                       // pestered.
                       if (Clock::now() - begun > kListenPauseMax) listen_pause_ = kListenPause;
                       listen_timer_.expires_after(listen_pause_);
                       listen_pause_ = std::min(listen_pause_ * 2, kListenPauseMax);
                       listen_timer_.async_wait([weak = weak_from_this()](const auto& cancelled) {
                         const auto self = weak.lock();
                         if (!cancelled && self && !self->abandoned_) self->Listen();
                       });
                     }});
}

void ClientCore::Learn(const ToolDefinition& tool, std::vector<HeaderParameter> parameters) {
  header_parameters_[tool.name] = std::move(parameters);
}

HttpHeaders ClientCore::ParameterHeadersOf(const json::object& call_params) const {
  const json::value* name = call_params.if_contains("name");
  if (!channel_->mirrors_parameters() || name == nullptr || !name->is_string()) return {};
  const auto found = header_parameters_.find(std::string_view(name->get_string()));
  if (found == header_parameters_.end()) return {};
  return ParameterHeaders(call_params, found->second);
}

}  // namespace glovebox::mcp

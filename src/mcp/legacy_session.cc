#include "mcp/legacy_session.h"

#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {

namespace json = boost::json;

namespace {

constexpr int kRoundsMax = 32;  // of questions about one request

void Refuse(MessageSink& sink, const RequestId& id, const RpcError& error) {
  sink.Finish(ErrorMessage(id, error), &error);
}

}  // namespace

struct LegacySession::Question {
  std::shared_ptr<LegacyCall> call;  // kept alive by what it waits for
  std::string key;
};

// A request whose questions go to the client as requests of ours.
class LegacySession::LegacyCall final : public PendingCall {
 public:
  LegacyCall(LegacySession& session, Origin origin)
      : PendingCall(std::move(origin)), session_(session) {}

  void NeedInput(InputRequired input) override {
    if (!open()) return;
    if (++rounds_ > kRoundsMax) return Fail({kInternalError, "too many rounds of questions"});
    for (const auto& [key, request] : input.requests) {
      if (!IsDeclared(request, context().capabilities)) {
        return Fail({kInvalidRequest, "the client has not declared what this needs: " +
                                          std::string(MethodOf(request))});
      }
    }
    state_ = std::move(input.state);
    answers_.clear();
    unanswered_ = input.requests.size();
    const auto self = std::static_pointer_cast<LegacyCall>(shared_from_this());
    for (const auto& [key, request] : input.requests) {
      const std::int64_t id = ++session_.last_question_;
      session_.questions_.emplace(id, Question{self, key});
      origin().sink->Send(
          RequestMessage(id, MethodOf(request), ParamsOf(request, context().version)));
    }
    if (unanswered_ == 0) Resume();
  }

  void TakeAnswer(const std::string& key, Response response) {
    if (!open()) return;
    if (const auto* error = std::get_if<RpcError>(&response.outcome)) {
      return Fail({kInternalError, "the client could not answer: " + error->message});
    }
    answers_[key] = std::move(std::get<json::value>(response.outcome));
    if (--unanswered_ == 0) Resume();
  }

  void Log(const LogMessage& message) override {
    if (!open() || !origin().server->options().logging) return;
    if (message.level < session_.log_level_ || origin().sink->congested()) return;
    Notify("notifications/message", ToJson(message, context().version));
  }

 private:
  void Resume() {
    origin().context.inputs = InputResponses(std::exchange(answers_, {}));
    origin().context.state = std::exchange(state_, {});
    Invoke();
  }

  LegacySession& session_;  // outlives every open call
  int rounds_ = 0;
  std::string state_;
  json::object answers_;
  std::size_t unanswered_ = 0;
};

// The answers to a batch go out together when the last one is there. A request that is cancelled
// leaves no answer; a batch without any is answered by silence.
class LegacySession::BatchSink final : public MessageSink {
 public:
  BatchSink(std::shared_ptr<MessageSink> whole, std::size_t requests)
      : whole_(std::move(whole)), open_(requests) {}

  void Send(json::object message) override { whole_->Send(std::move(message)); }
  void Finish(json::value message, const RpcError*) override {
    answers_.push_back(std::move(message));
    Settle();
  }
  void Abandon() override { Settle(); }
  bool congested() const override { return whole_->congested(); }

 private:
  void Settle() {
    if (--open_ > 0) return;
    if (answers_.empty()) return whole_->Abandon();
    whole_->Finish(json::value(std::move(answers_)), nullptr);
  }

  const std::shared_ptr<MessageSink> whole_;
  std::size_t open_;  // answers still to come
  json::array answers_;
};

LegacySession::LegacySession(Server& server, std::string principal,
                             std::shared_ptr<MessageSink> standalone, ProtocolVersion oldest,
                             std::function<void()> idle)
    : server_(server),
      principal_(std::move(principal)),
      standalone_(std::move(standalone)),
      oldest_(oldest),
      idle_(std::move(idle)) {}

LegacySession::~LegacySession() { End(); }

void LegacySession::End() {
  ended_ = true;
  changes_ = {};
  while (!in_flight_.empty()) in_flight_.begin()->second->Withdraw();
}

void LegacySession::Handle(Message message, const std::shared_ptr<MessageSink>& sink) {
  if (auto* request = std::get_if<Request>(&message)) {
    HandleRequest(std::move(*request), sink);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    HandleNotification(*notification);
  } else if (auto* response = std::get_if<Response>(&message)) {
    HandleResponse(std::move(*response));
  } else {
    const auto& invalid = std::get<InvalidMessage>(message);
    sink->Finish(ErrorMessage(invalid.id, invalid.error), &invalid.error);
  }
}

void LegacySession::Handle(Batch batch, const std::shared_ptr<MessageSink>& sink) {
  if (!version_ || *version_ > ProtocolVersion::k2025_03_26) {
    if (sink == nullptr) return;
    const RpcError error = {kInvalidRequest, version_
                                                 ? "batches are not part of protocol version " +
                                                       std::string(VersionName(*version_))
                                                 : "send initialize first, on its own"};
    return sink->Finish(ErrorMessage(std::nullopt, error), &error);
  }
  std::size_t answers = 0;
  for (const Message& message : batch) {
    if (std::holds_alternative<Request>(message) ||
        std::holds_alternative<InvalidMessage>(message)) {
      ++answers;
    }
  }
  const auto together = answers > 0 ? std::make_shared<BatchSink>(sink, answers) : nullptr;
  if (together == nullptr && sink != nullptr) sink->Abandon();
  for (Message& message : batch) {
    const auto* request = std::get_if<Request>(&message);
    if (request != nullptr && request->method == "initialize") {
      Refuse(*together, request->id, {kInvalidRequest, "initialize must not be part of a batch"});
    } else {
      Handle(std::move(message), together);
    }
  }
}

void LegacySession::HandleRequest(Request request, const std::shared_ptr<MessageSink>& sink) {
  const auto refuse = [&](int code, std::string why) {
    Refuse(*sink, request.id, {code, std::move(why)});
  };
  if (ended_) return refuse(kInvalidRequest, "the session has ended");
  if (in_flight_.contains(request.id)) {
    // An answer with this id would be taken for the answer to the first request.
    const RpcError error = {kInvalidRequest,
                            "id " + ToText(request.id) + " belongs to a request in flight"};
    return sink->Finish(ErrorMessage(std::nullopt, error), &error);
  }
  if (request.method == "initialize") return Initialize(request, *sink);
  if (request.method == "ping") return sink->Finish(ResultMessage(request.id, {}), nullptr);
  const Router::RawHandler* handler =
      server_.router().Find(request.method, version_.value_or(kNewestLegacyVersion));
  if (handler == nullptr) {
    if (version_ && HandleOwnMethod(request, *sink)) return;
    return refuse(kMethodNotFound, "Method not found: " + request.method);
  }
  if (!version_) return refuse(kInvalidRequest, "send initialize first");
  if (in_flight_.size() >= server_.options().in_flight_max) {
    return refuse(kInternalError, "too many requests in flight (limit " +
                                      std::to_string(server_.options().in_flight_max) + ")");
  }
  Dispatch(std::move(request), *handler, sink);
}

void LegacySession::Initialize(const Request& request, MessageSink& sink) {
  if (version_) return Refuse(sink, request.id, {kInvalidRequest, "already initialized"});
  auto params = ParamsFromJson<InitializeParams>(request.params);
  if (!params) return Refuse(sink, request.id, ToRpcError(params.error()));
  // A version we do not serve is answered with our newest; the client decides whether to stay.
  const auto asked = VersionFromName(params->protocol_version);
  const bool served = asked && *asked >= oldest_ && !IsModern(*asked);
  version_ = served ? *asked : kNewestLegacyVersion;
  capabilities_ = params->capabilities;
  client_info_ = std::move(params->client_info);
  changes_ = server_.changes().Listen([this](const Change& change) { OnChange(change); });
  sink.Finish(ResultMessage(request.id, ToJson(server_.Welcome(*version_), *version_)), nullptr);
}

bool LegacySession::HandleOwnMethod(const Request& request, MessageSink& sink) {
  const auto done = [&] { sink.Finish(ResultMessage(request.id, {}), nullptr); };
  if (request.method == "logging/setLevel" && server_.options().logging) {
    const auto params = ParamsFromJson<SetLevelParams>(request.params);
    if (!params) {
      Refuse(sink, request.id, ToRpcError(params.error()));
    } else {
      log_level_ = params->level;
      done();
    }
    return true;
  }
  const bool subscribe = request.method == "resources/subscribe";
  const bool unsubscribe = request.method == "resources/unsubscribe";
  if ((!subscribe && !unsubscribe) || !server_.options().changes.resource_updates) return false;
  const auto params = ParamsFromJson<ResourceParams>(request.params);
  if (!params) {
    Refuse(sink, request.id, ToRpcError(params.error()));
  } else if (unsubscribe) {
    subscriptions_.erase(params->uri);
    done();
  } else if (!server_.resources().Knows(params->uri)) {
    Refuse(sink, request.id, ResourceNotFound(params->uri, *version_));
  } else if (subscriptions_.size() >= kSubscriptionsMax) {
    Refuse(sink, request.id,
           {kInternalError,
            "too many subscriptions (limit " + std::to_string(kSubscriptionsMax) + ")"});
  } else {
    subscriptions_.insert(params->uri);
    done();
  }
  return true;
}

void LegacySession::Dispatch(Request request, const Router::RawHandler& handler,
                             const std::shared_ptr<MessageSink>& sink) {
  auto meta = ParamsFromJson<RequestMeta>(request.params);
  if (!meta) return Refuse(*sink, request.id, ToRpcError(meta.error()));
  PendingCall::Origin origin;
  if (const auto refusal = server_.Admit(principal_, origin.ticket)) {
    if (server_.on_request) server_.on_request(request.method, refusal->code, 0);
    return Refuse(*sink, request.id, *refusal);
  }
  origin.server = &server_;
  origin.id = std::move(request.id);
  origin.method = std::move(request.method);
  origin.params = std::move(request.params);
  origin.meta = std::move(meta).value();
  origin.context.version = *version_;
  origin.context.capabilities = capabilities_;
  origin.context.client_info = client_info_;
  origin.context.principal = principal_;
  origin.sink = sink;
  origin.finished = [this](PendingCall& call) { Forget(call); };
  const auto call = std::make_shared<LegacyCall>(*this, std::move(origin));
  in_flight_.emplace(call->id(), call.get());
  call->Run(handler);
}

void LegacySession::Forget(PendingCall& call) {
  in_flight_.erase(call.id());
  // The questions may hold the last reference to the call: they go after the loop.
  std::vector<Question> dropped;
  for (auto question = questions_.begin(); question != questions_.end();) {
    if (question->second.call.get() != &call) {
      ++question;
      continue;
    }
    dropped.push_back(std::move(question->second));
    question = questions_.erase(question);
  }
  if (in_flight_.empty() && idle_) idle_();
}

void LegacySession::HandleNotification(const Notification& notification) {
  // "notifications/initialized" needs no action: whoever has our version may ask.
  if (notification.method != "notifications/cancelled") return;
  const auto params = ParamsFromJson<CancelledParams>(notification.params);
  if (!params) return;
  const auto found = in_flight_.find(params->request_id);
  if (found != in_flight_.end()) found->second->Withdraw();
}

void LegacySession::HandleResponse(Response response) {
  const auto* id = std::get_if<std::int64_t>(&response.id);
  const auto found = id == nullptr ? questions_.end() : questions_.find(*id);
  if (found == questions_.end()) return;  // answers nothing that we asked
  const Question question = std::move(found->second);
  questions_.erase(found);
  question.call->TakeAnswer(question.key, std::move(response));
}

void LegacySession::OnChange(const Change& change) {
  const ChangeFeed::Offered& offered = server_.options().changes;
  bool wanted = false;
  switch (change.kind) {
    case Change::Kind::kToolsList: wanted = offered.tools; break;
    case Change::Kind::kPromptsList: wanted = offered.prompts; break;
    case Change::Kind::kResourcesList: wanted = offered.resources; break;
    case Change::Kind::kResourceUpdated: wanted = subscriptions_.contains(change.uri); break;
  }
  if (!wanted || standalone_->congested()) return;
  standalone_->Send(NotificationMessage(MethodOf(change.kind), ParamsOf(change)));
}

}  // namespace glovebox::mcp

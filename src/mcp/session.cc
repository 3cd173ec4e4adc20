#include "mcp/session.h"

#include <exception>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>

#include "mcp/json_writer.h"

namespace glovebox::mcp {

namespace json = boost::json;

// The answers to a batch go out together, as one array, when the last one is there. A request that
// is cancelled leaves no answer; a batch without any is answered by silence.
struct Session::BatchReply {
  json::array replies;
  std::size_t open = 0;  // messages still being worked on
};

// A request in flight. Handlers own it; `session_` is null once there is nothing left to say.
class Session::PendingCall final : public Call, public std::enable_shared_from_this<PendingCall> {
 public:
  PendingCall(Session& session, RequestId id, RequestMeta meta, ProtocolVersion version,
              std::shared_ptr<BatchReply> batch)
      : session_(&session),
        id_(std::move(id)),
        meta_(std::move(meta)),
        version_(version),
        batch_(std::move(batch)) {}

  ~PendingCall() override {
    if (session_ != nullptr) Fail({kInternalError, "the request was dropped", std::nullopt});
  }

  void Reply(json::object result) override { Answer(ResultMessage(id_, std::move(result))); }
  void Fail(const RpcError& error) override { Answer(ErrorMessage(id_, error)); }

  void OnCancel(std::function<void()> hook) override {
    if (withdrawn_) return hook();
    cancel_hook_ = std::move(hook);
  }

  bool wants_progress() const override { return meta_.progress_token.has_value(); }

  void Report(const Progress& progress) override {
    if (session_ == nullptr || !wants_progress() || session_->transport_.congested()) return;
    session_->Send(NotificationMessage("notifications/progress",
                                       ToJson(progress, *meta_.progress_token, version_)),
                   nullptr);
  }

  ProtocolVersion version() const override { return version_; }
  const RequestId& id() const { return id_; }

  // No answer is wanted any more. The hook may drop the last reference, hence `self`.
  void Withdraw() {
    const auto self = weak_from_this().lock();
    Session* session = std::exchange(session_, nullptr);
    if (session == nullptr) return;
    withdrawn_ = true;
    session->Forget(*this);
    session->SettleBatch(batch_);
    if (const auto hook = std::exchange(cancel_hook_, nullptr)) hook();
  }

 private:
  void Answer(json::object message) {
    Session* session = std::exchange(session_, nullptr);
    if (session == nullptr) return;
    // Destroyed at the end: what the hook holds may hold the last reference to this call.
    const auto hook = std::exchange(cancel_hook_, nullptr);
    const auto self = weak_from_this().lock();
    session->Forget(*this);
    session->Send(std::move(message), batch_);
    session->SettleBatch(batch_);
    session->FinishDrainIfIdle();
  }

  Session* session_;
  const RequestId id_;
  const RequestMeta meta_;
  const ProtocolVersion version_;
  const std::shared_ptr<BatchReply> batch_;  // null when the request came alone
  std::function<void()> cancel_hook_;
  bool withdrawn_ = false;
};

Session::Session(const boost::asio::any_io_executor& executor, Transport& transport,
                 const Router& router, SessionOptions options, FinishedHandler finished)
    : transport_(transport),
      router_(router),
      options_(std::move(options)),
      finished_(std::move(finished)),
      drain_timer_(executor) {}

Session::~Session() { CancelAll(); }

void Session::Close() {
  CancelAll();
  transport_.Close();
}

void Session::OnMessage(std::string_view text) {
  auto parsed = ParseMessage(text, options_.limits);
  if (auto* batch = std::get_if<Batch>(&parsed)) return HandleBatch(std::move(*batch));
  HandleMessage(std::move(std::get<Message>(parsed)), nullptr);
}

void Session::OnRefusedMessage(const Error& error) {
  Send(ErrorMessage(std::nullopt, {kInvalidRequest, error.message(), std::nullopt}), nullptr);
}

void Session::OnEndOfInput() {
  draining_ = true;
  if (in_flight_.empty()) return transport_.Close();
  drain_timer_.expires_after(options_.drain_max);
  drain_timer_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& error) {
    // A timer that has expired cannot be cancelled any more: its handler may be on its way.
    if (!error && !alive.expired()) Close();
  });
}

void Session::OnClosed(const Status& reason) {
  CancelAll();
  drain_timer_.cancel();
  if (const auto finished = std::exchange(finished_, nullptr)) finished(reason);
}

void Session::HandleBatch(Batch batch) {
  const bool allowed = version_ && *version_ <= ProtocolVersion::k2025_03_26;
  if (!allowed) {
    const std::string why =
        version_ ? "batches are not part of protocol version " + std::string(VersionName(*version_))
                 : "send initialize first, on its own";
    return Send(ErrorMessage(std::nullopt, {kInvalidRequest, why, std::nullopt}), nullptr);
  }
  const auto reply = std::make_shared<BatchReply>();
  reply->open = 1;  // this loop: answers that come at once must not complete the batch
  for (Message& message : batch) HandleMessage(std::move(message), reply);
  SettleBatch(reply);
}

void Session::HandleMessage(Message message, const std::shared_ptr<BatchReply>& batch) {
  if (auto* request = std::get_if<Request>(&message)) {
    HandleRequest(std::move(*request), batch);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    HandleNotification(*notification);
  } else if (const auto* invalid = std::get_if<InvalidMessage>(&message)) {
    Send(ErrorMessage(invalid->id, invalid->error), batch);
  }
  // A Response answers a request of ours. We send none, so it belongs to nothing.
}

void Session::HandleRequest(Request request, const std::shared_ptr<BatchReply>& batch) {
  const auto refuse = [&](int code, std::string why) {
    Send(ErrorMessage(request.id, {code, std::move(why), std::nullopt}), batch);
  };
  if (in_flight_.contains(request.id)) {
    // An answer with this id would be taken for the answer to the first request.
    return Send(
        ErrorMessage(std::nullopt, {kInvalidRequest,
                                    "id " + ToText(request.id) + " belongs to a request in flight",
                                    std::nullopt}),
        batch);
  }
  if (request.method == "initialize") {
    if (batch) return refuse(kInvalidRequest, "initialize must not be part of a batch");
    return Initialize(request);
  }
  if (request.method == "ping") return Send(ResultMessage(request.id, {}), batch);
  const Router::RawHandler* handler = router_.Find(request.method);
  if (handler == nullptr) return refuse(kMethodNotFound, "Method not found: " + request.method);
  if (!version_) return refuse(kInvalidRequest, "send initialize first");
  if (in_flight_.size() >= options_.in_flight_max) {
    return refuse(kInternalError, "too many requests in flight (limit " +
                                      std::to_string(options_.in_flight_max) + ")");
  }
  Dispatch(std::move(request), *handler, batch);
}

void Session::Initialize(const Request& request) {
  if (version_) {
    return Send(ErrorMessage(request.id, {kInvalidRequest, "already initialized", std::nullopt}),
                nullptr);
  }
  const auto params = ParamsFromJson<InitializeParams>(request.params);
  if (!params) return Send(ErrorMessage(request.id, ToRpcError(params.error())), nullptr);
  // A version we do not know is answered with our newest; the client decides whether to stay.
  version_ = VersionFromName(params->protocol_version).value_or(kNewestVersion);
  const InitializeResult result = {*version_, options_.capabilities, options_.server_info,
                                   options_.instructions};
  Send(ResultMessage(request.id, ToJson(result, *version_)), nullptr);
}

void Session::Dispatch(Request request, const Router::RawHandler& handler,
                       const std::shared_ptr<BatchReply>& batch) {
  auto meta = ParamsFromJson<RequestMeta>(request.params);
  if (!meta) return Send(ErrorMessage(request.id, ToRpcError(meta.error())), batch);
  const auto call = std::make_shared<PendingCall>(*this, std::move(request.id),
                                                  std::move(meta).value(), *version_, batch);
  in_flight_.emplace(call->id(), call.get());
  if (batch) ++batch->open;
  try {
    handler(request.params, call);
  } catch (const std::exception& exception) {
    call->Fail({kInternalError, std::string("internal error: ") + exception.what(), std::nullopt});
  }
}

void Session::HandleNotification(const Notification& notification) {
  // "notifications/initialized" needs no action: whoever has our version may ask.
  if (notification.method != "notifications/cancelled") return;
  const auto params = ParamsFromJson<CancelledParams>(notification.params);
  if (params) Cancel(params->request_id);
}

void Session::Cancel(const RequestId& id) {
  const auto found = in_flight_.find(id);
  if (found != in_flight_.end()) found->second->Withdraw();
}

void Session::CancelAll() {
  while (!in_flight_.empty()) in_flight_.begin()->second->Withdraw();
}

void Session::Forget(PendingCall& call) { in_flight_.erase(call.id()); }

void Session::Send(json::object message, const std::shared_ptr<BatchReply>& batch) {
  if (batch) {
    batch->replies.push_back(std::move(message));
  } else {
    transport_.Send(WriteJson(message));
  }
}

void Session::SettleBatch(const std::shared_ptr<BatchReply>& batch) {
  if (!batch || --batch->open > 0 || batch->replies.empty()) return;
  transport_.Send(WriteJson(json::value(std::move(batch->replies))));
}

void Session::FinishDrainIfIdle() {
  if (draining_ && in_flight_.empty()) transport_.Close();
}

}  // namespace glovebox::mcp

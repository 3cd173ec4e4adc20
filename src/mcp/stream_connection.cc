#include "mcp/stream_connection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "mcp/json_writer.h"

namespace glovebox::mcp {

namespace json = boost::json;

// All requests share the pipe. Outlives the connection in calls that are being dropped, but nothing
// is sent through it then: their end came first.
class StreamConnection::Sink final : public MessageSink {
 public:
  explicit Sink(Transport& transport) : transport_(transport) {}

  void Send(json::object message) override { transport_.Send(WriteJson(message)); }
  void Finish(json::value message, const RpcError*) override {
    transport_.Send(WriteJson(message));
  }
  void Abandon() override {}
  bool congested() const override { return transport_.congested(); }

 private:
  Transport& transport_;
};

StreamConnection::StreamConnection(Server& server, Transport& transport, std::string principal,
                                   FinishedHandler finished)
    : server_(server),
      transport_(transport),
      principal_(std::move(principal)),
      finished_(std::move(finished)),
      drain_timer_(server.executor()),
      sink_(std::make_shared<Sink>(transport)),
      legacy_(server, principal_, sink_, ProtocolVersion::k2024_11_05,
              [this] { FinishDrainIfIdle(); }) {}

StreamConnection::~StreamConnection() {
  draining_ = false;
  CancelAll();
}

void StreamConnection::Close() {
  draining_ = false;  // nothing is waited for any more
  CancelAll();
  transport_.Close();
}

void StreamConnection::OnMessage(std::string_view text) {
  auto parsed = ParseMessage(text, server_.options().limits);
  if (auto* batch = std::get_if<Batch>(&parsed)) return legacy_.Handle(std::move(*batch), sink_);
  auto& message = std::get<Message>(parsed);
  if (auto* request = std::get_if<Request>(&message)) {
    if (ClaimsModern(request->params)) return HandleModern(std::move(*request));
    if (modern_seen_ && request->method == "initialize") {
      return Refuse(request->id, UnsupportedVersion("of initialize"));
    }
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    if (CancelModern(*notification)) return;
  }
  legacy_.Handle(std::move(message), sink_);
}

void StreamConnection::HandleModern(Request request) {
  if (modern_.contains(request.id)) {
    // An answer with this id would be taken for the answer to the first request.
    return Refuse(std::nullopt, {kInvalidRequest,
                                 "id " + ToText(request.id) + " belongs to a request in flight"});
  }
  auto envelope = ReadEnvelope(request.params);
  if (!envelope) return Refuse(request.id, ToRpcError(envelope.error()));
  if (const auto error = CheckVersion(*envelope)) return Refuse(request.id, *error);
  if (modern_.size() >= server_.options().in_flight_max) {
    return Refuse(request.id,
                  {kInternalError, "too many requests in flight (limit " +
                                       std::to_string(server_.options().in_flight_max) + ")"});
  }
  // A client that only asked who we are may still turn to `initialize`.
  if (request.method != "server/discover") modern_seen_ = true;
  const RequestId id = request.id;
  modern_.emplace(id, nullptr);
  const auto call = StartModernCall(server_, std::move(request), std::move(envelope).value(),
                                    principal_, sink_, [this](PendingCall& finished) {
                                      modern_.erase(finished.id());
                                      FinishDrainIfIdle();
                                    });
  const auto entry = modern_.find(id);
  if (entry == modern_.end()) return;  // answered already
  if (call == nullptr) {
    modern_.erase(entry);
  } else {
    entry->second = call.get();
  }
}

bool StreamConnection::CancelModern(const Notification& notification) {
  if (notification.method != "notifications/cancelled") return false;
  const auto params = ParamsFromJson<CancelledParams>(notification.params);
  if (!params) return false;
  const auto found = modern_.find(params->request_id);
  if (found == modern_.end()) return false;
  found->second->Withdraw();
  return true;
}

void StreamConnection::Refuse(const std::optional<RequestId>& id, const RpcError& error) {
  sink_->Finish(ErrorMessage(id, error), &error);
}

void StreamConnection::OnRefusedMessage(const Error& error) {
  Refuse(std::nullopt, {kInvalidRequest, error.message()});
}

void StreamConnection::OnEndOfInput() {
  // Subscriptions have no end of their own to wait for.
  std::vector<PendingCall*> endless;
  for (const auto& [id, call] : modern_) {
    if (call->method() == "subscriptions/listen") endless.push_back(call);
  }
  for (PendingCall* call : endless) call->Withdraw();
  draining_ = true;
  if (in_flight() == 0) return transport_.Close();
  drain_timer_.expires_after(server_.options().drain_max);
  drain_timer_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& error) {
    // A timer that has expired cannot be cancelled any more: its handler may be on its way.
    if (!error && !alive.expired()) Close();
  });
}

void StreamConnection::OnClosed(const Status& reason) {
  CancelAll();
  drain_timer_.cancel();
  if (const auto finished = std::exchange(finished_, nullptr)) finished(reason);
}

void StreamConnection::CancelAll() {
  while (!modern_.empty()) modern_.begin()->second->Withdraw();
  legacy_.End();
}

void StreamConnection::FinishDrainIfIdle() {
  if (draining_ && in_flight() == 0) transport_.Close();
}

}  // namespace glovebox::mcp

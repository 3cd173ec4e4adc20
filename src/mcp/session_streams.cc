#include "mcp/session_streams.h"

#include <algorithm>
#include <utility>

#include "mcp/http_answers.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {

namespace json = boost::json;

namespace {

// A client comes back for an abandoned stream at once or not at all.
constexpr std::size_t kAbandonedMax = 64;

}  // namespace

SessionStreams::SessionStreams(std::size_t replay_bytes_max, std::shared_ptr<ReplayBudget> budget,
                               std::shared_ptr<SseStream::KeepAlive> keep_alive)
    : log_(replay_bytes_max, std::move(budget)), keep_alive_(std::move(keep_alive)) {}

void SessionStreams::Attach(std::uint64_t stream, const std::shared_ptr<HttpExchange>& exchange) {
  auto connection = SseStream::Start(exchange, *keep_alive_);
  exchange->OnDisconnect([weak = weak_from_this(), stream, gone = std::weak_ptr(connection)] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const auto found = self->open_.find(stream);
    // By now another connection may carry the stream.
    if (found != self->open_.end() && found->second == gone.lock()) found->second = nullptr;
  });
  open_[stream] = std::move(connection);
}

std::uint64_t SessionStreams::Open(const std::shared_ptr<HttpExchange>& exchange) {
  const std::uint64_t stream = log_.OpenStream();
  Attach(stream, exchange);
  if (priming_) open_[stream]->Write(SsePrimingEvent(ToText(log_.NextId(stream))));
  return stream;
}

void SessionStreams::Send(std::uint64_t stream, std::string message) {
  const auto found = open_.find(stream);
  if (found == open_.end()) return;
  const EventId id = log_.NextId(stream);
  if (found->second != nullptr) found->second->Write(SseEvent(message, ToText(id)));
  log_.Keep(id, std::move(message));
}

void SessionStreams::Release(std::uint64_t stream, std::chrono::milliseconds retry) {
  const auto found = open_.find(stream);
  if (found == open_.end()) return;
  const auto connection = std::exchange(found->second, nullptr);
  if (connection == nullptr) return;
  connection->Write(SseRetry(retry));
  connection->End();
}

void SessionStreams::Close(std::uint64_t stream) {
  const auto found = open_.find(stream);
  if (found == open_.end()) return;
  if (found->second != nullptr) found->second->End();
  open_.erase(found);
  log_.CloseStream(stream);
}

void SessionStreams::Abandon(std::uint64_t stream) {
  Close(stream);
  if (abandoned_.size() == kAbandonedMax) abandoned_.pop_front();
  abandoned_.push_back(stream);
}

bool SessionStreams::congested(std::uint64_t stream) const {
  const auto found = open_.find(stream);
  if (found == open_.end()) return false;
  // Reports that nobody reads must not displace answers that somebody will come for.
  if (found->second == nullptr) return log_.bytes() > log_.bytes_max() / 2;
  return found->second->congested();
}

bool SessionStreams::has_listener() const {
  const auto found = standalone_ ? open_.find(*standalone_) : open_.end();
  return found != open_.end() && found->second != nullptr;
}

void SessionStreams::OpenStandalone(const std::shared_ptr<HttpExchange>& exchange) {
  if (standalone_) Close(*standalone_);
  standalone_ = Open(exchange);
}

void SessionStreams::SendStandalone(std::string message) {
  if (standalone_) Send(*standalone_, std::move(message));
}

void SessionStreams::CloseStandalone() {
  if (standalone_) Close(*standalone_);
  standalone_.reset();
}

void SessionStreams::OpenEnded(const std::shared_ptr<HttpExchange>& exchange, std::string events) {
  const auto connection = SseStream::Start(exchange, *keep_alive_);
  if (!events.empty()) connection->Write(std::move(events));
  connection->End();
}

Status SessionStreams::Resume(EventId last, const std::shared_ptr<HttpExchange>& exchange) {
  if (std::find(abandoned_.begin(), abandoned_.end(), last.stream) != abandoned_.end()) {
    exchange->Respond({204, {}, ""});
    return {};
  }
  const auto events = TRY(log_.After(last));
  const auto found = open_.find(last.stream);
  const bool goes_on = found != open_.end();
  if (goes_on && found->second != nullptr) found->second->End();

  std::string missed;
  for (const EventLog::Event& event : events) missed += SseEvent(event.data, ToText(event.id));
  if (goes_on) {
    Attach(last.stream, exchange);
    if (!missed.empty()) open_[last.stream]->Write(std::move(missed));
  } else {
    OpenEnded(exchange, std::move(missed));
  }
  return {};
}

LegacyReply::LegacyReply(std::shared_ptr<HttpExchange> exchange,
                         std::shared_ptr<SessionStreams> streams, const ReplyTimers& timers)
    : exchange_(std::move(exchange)),
      streams_(std::move(streams)),
      stream_after_(timers.stream_after) {}

void LegacyReply::Await() {
  if (exchange_ != nullptr) stream_after_->Add(weak_from_this());
}

void LegacyReply::OpenStream() {
  if (const auto exchange = std::exchange(exchange_, nullptr)) stream_ = streams_->Open(exchange);
}

void LegacyReply::Send(json::object message) {
  OpenStream();
  if (stream_) streams_->Send(*stream_, WriteJson(message));
}

void LegacyReply::Finish(json::value message, const RpcError* error) {
  if (const auto exchange = std::exchange(exchange_, nullptr)) {
    exchange->Respond(AnswerResponse(message, error, false));
  } else if (stream_) {
    streams_->Send(*stream_, WriteJson(message));
    streams_->Close(*stream_);
  }
}

void LegacyReply::Abandon() {
  // Without a priming event: there is nothing to come back for.
  if (const auto exchange = std::exchange(exchange_, nullptr)) streams_->OpenEnded(exchange);
  if (stream_) streams_->Abandon(*stream_);
}

bool LegacyReply::congested() const { return stream_ && streams_->congested(*stream_); }

void LegacyReply::Release(std::chrono::milliseconds retry) {
  OpenStream();
  if (stream_) streams_->Release(*stream_, retry);
}

}  // namespace glovebox::mcp

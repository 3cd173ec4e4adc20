#include "mcp/http_reply.h"

#include <utility>

#include "mcp/http_answers.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {

namespace json = boost::json;

ReplyTimers::ReplyTimers(const boost::asio::any_io_executor& executor,
                         std::chrono::milliseconds stream_after_delay,
                         std::chrono::milliseconds keep_alive_delay)
    : stream_after(std::make_shared<DelayQueue<HttpReply>>(executor, stream_after_delay,
                                                           [](HttpReply& reply) {
                                                             reply.OpenStream();
                                                             return false;
                                                           })),
      keep_alive(
          std::make_shared<SseStream::KeepAlive>(executor, keep_alive_delay, [](SseStream& stream) {
            stream.Comment();
            return stream.open();
          })) {}

ModernReply::ModernReply(std::shared_ptr<HttpExchange> exchange, const ReplyTimers& timers)
    : exchange_(std::move(exchange)),
      stream_after_(timers.stream_after),
      keep_alive_(timers.keep_alive) {}

void ModernReply::Await(const std::shared_ptr<PendingCall>& call) {
  if (exchange_ == nullptr) return;
  exchange_->OnDisconnect([weak = std::weak_ptr(call)] {
    if (const auto open_call = weak.lock()) open_call->Withdraw();
  });
  if (stream_ != nullptr) return;
  exchange_->OnHalfClose([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OpenStream();
  });
  stream_after_->Add(weak_from_this());
}

void ModernReply::OpenStream() {
  if (exchange_ == nullptr || stream_ != nullptr) return;
  stream_ = SseStream::Start(exchange_, *keep_alive_);
}

void ModernReply::Send(json::object message) {
  OpenStream();
  if (stream_ != nullptr) stream_->Write(SseEvent(WriteJson(message)));
}

void ModernReply::Finish(json::value message, const RpcError* error) {
  const auto exchange = std::exchange(exchange_, nullptr);
  if (exchange == nullptr) return;
  if (stream_ == nullptr) return exchange->Respond(AnswerResponse(message, error, true));
  stream_->Write(SseEvent(WriteJson(message)));
  stream_->End();
}

void ModernReply::Abandon() {
  exchange_ = nullptr;
  if (stream_ != nullptr) stream_->End();
}

}  // namespace glovebox::mcp

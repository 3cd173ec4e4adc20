#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "mcp/delay_queue.h"
#include "mcp/message_sink.h"
#include "mcp/pending_call.h"
#include "mcp/sse.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// Where the messages about one POSTed request go: one JSON body with a status if the answer is all
// there is to say and comes soon, else a stream of events.
class HttpReply : public MessageSink {
 public:
  // Commits the response to a stream, so that the client sees that we are at work. Nothing when it
  // is one already, or answered.
  virtual void OpenStream() = 0;
};

// The timers of all replies of an endpoint. No request has one of its own.
struct ReplyTimers {
  ReplyTimers(const boost::asio::any_io_executor& executor, std::chrono::milliseconds stream_after,
              std::chrono::milliseconds keep_alive);

  const std::shared_ptr<DelayQueue<HttpReply>> stream_after;
  const std::shared_ptr<SseStream::KeepAlive> keep_alive;
};

// The reply to a modern request. The client cancels by going away, and nothing is sent after that.
class ModernReply final : public HttpReply, public std::enable_shared_from_this<ModernReply> {
 public:
  ModernReply(std::shared_ptr<HttpExchange> exchange, const ReplyTimers& timers);

  // For a call that has been started on this reply: watches over client and clock, unless there is
  // an answer already.
  void Await(const std::shared_ptr<PendingCall>& call);

  void OpenStream() override;
  void Send(boost::json::object message) override;
  void Finish(boost::json::value message, const RpcError* error) override;
  void Abandon() override;
  bool congested() const override { return stream_ != nullptr && stream_->congested(); }

 private:
  std::shared_ptr<HttpExchange> exchange_;  // until the answer
  const std::shared_ptr<DelayQueue<HttpReply>> stream_after_;
  const std::shared_ptr<SseStream::KeepAlive> keep_alive_;
  std::shared_ptr<SseStream> stream_;
};

}  // namespace glovebox::mcp

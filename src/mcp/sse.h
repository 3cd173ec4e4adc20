#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/delay_queue.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// Server-sent events: their text, and a response made of them.

// `data` is one line, as WriteJson writes it. Without an id the event cannot be resumed after.
std::string SseEvent(std::string_view data, std::string_view id = {});
// An event without text: gives the client an id to come back with before there is anything to say.
std::string SsePrimingEvent(std::string_view id);
// How long the client is to wait before it comes back.
std::string SseRetry(std::chrono::milliseconds delay);

// A streamed response. Says something from time to time, so that neither end takes silence for
// death, and when the peer has closed its side, to see whether it is still there.
//
// Thread rule: the thread of the server's io_context. After End, everything does nothing.
class SseStream {
 public:
  using KeepAlive = DelayQueue<SseStream>;

  // Commits `exchange` to status 200 and a stream, and takes its OnHalfClose.
  static std::shared_ptr<SseStream> Start(const std::shared_ptr<HttpExchange>& exchange,
                                          KeepAlive& keep_alive);
  explicit SseStream(std::shared_ptr<HttpExchange> exchange) : exchange_(std::move(exchange)) {}

  void Write(std::string events);
  // What parsers skip. Left out when the peer does not even read the rest.
  void Comment();
  void End();

  bool open() const { return exchange_ != nullptr; }
  bool congested() const { return exchange_ != nullptr && exchange_->congested(); }

 private:
  std::shared_ptr<HttpExchange> exchange_;
};

}  // namespace glovebox::mcp

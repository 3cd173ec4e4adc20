#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "mcp/delay_queue.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// Stands before a handler and holds back its refusals of clients over their share (429) for a
// while. A client that asks again as soon as it is refused would otherwise keep the loop busy with
// refusing, and every step of everybody else's requests would wait for a round of that. Held back,
// each connection is refused at most 1/hold times per second, for the price of a timer.
//
// Thread rule: the thread of the executor's io_context.
class RefusalHold final : public HttpHandler {
 public:
  static constexpr std::chrono::milliseconds kHold{500};

  // `inner` must outlive it.
  RefusalHold(const boost::asio::any_io_executor& executor, HttpHandler& inner,
              std::chrono::milliseconds hold = kHold);

  std::optional<HttpResponse> Screen(const HttpRequest& head) override;
  void Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override;

  std::size_t held() const { return queue_->size(); }

 private:
  class Exchange;
  // A refusal, and whom it is for. Kept by the connection: gone when that is.
  struct Held {
    std::shared_ptr<HttpExchange> exchange;
    HttpResponse response;
  };
  using Queue = DelayQueue<Held>;

  HttpHandler& inner_;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace glovebox::mcp

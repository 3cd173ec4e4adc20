#include "mcp/refusal_hold.h"

#include <utility>

namespace glovebox::mcp {

// The handler's side of a response: everything goes on as it is, but for refusals.
class RefusalHold::Exchange final : public HttpExchange {
 public:
  Exchange(std::shared_ptr<HttpExchange> inner, std::shared_ptr<Queue> queue)
      : inner_(std::move(inner)), queue_(std::move(queue)) {}

  void Respond(HttpResponse response) override {
    if (response.status != 429) return inner_->Respond(std::move(response));
    responded_ = true;
    const auto held = std::make_shared<Held>(Held{inner_, std::move(response)});
    inner_->OnDisconnect([held] {});
    queue_->Add(held);
  }
  void StartStream(unsigned status, HttpHeaders headers) override {
    inner_->StartStream(status, std::move(headers));
  }
  void Write(std::string bytes) override { inner_->Write(std::move(bytes)); }
  void End() override { inner_->End(); }
  bool started() const override { return responded_ || inner_->started(); }
  bool congested() const override { return inner_->congested(); }
  void OnDisconnect(std::function<void()> hook) override {
    if (!responded_) inner_->OnDisconnect(std::move(hook));
  }
  void OnHalfClose(std::function<void()> hook) override {
    if (!responded_) inner_->OnHalfClose(std::move(hook));
  }

 private:
  const std::shared_ptr<HttpExchange> inner_;
  const std::shared_ptr<Queue> queue_;
  bool responded_ = false;
};

RefusalHold::RefusalHold(const boost::asio::any_io_executor& executor, HttpHandler& inner,
                         std::chrono::milliseconds hold)
    : inner_(inner), queue_(std::make_shared<Queue>(executor, hold, [](Held& held) {
        const auto exchange = std::exchange(held.exchange, nullptr);
        exchange->Respond(std::move(held.response));
        return false;
      })) {}

std::optional<HttpResponse> RefusalHold::Screen(const HttpRequest& head) {
  return inner_.Screen(head);
}

void RefusalHold::Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
  inner_.Handle(std::move(request), std::make_shared<Exchange>(std::move(exchange), queue_));
}

}  // namespace glovebox::mcp

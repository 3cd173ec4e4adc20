#include "mcp/refusal_hold.h"

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "mcp/fake_http_exchange.h"

namespace glovebox::mcp {
namespace {

using std::chrono::milliseconds;

// Answers every request with the status that it was asked for.
class Answering final : public HttpHandler {
 public:
  std::optional<HttpResponse> Screen(const HttpRequest& head) override {
    if (head.method == "SCREEN") return HttpResponse{403, {}, "screened"};
    return std::nullopt;
  }
  void Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    if (request.method == "STREAM") {
      exchange->StartStream(200, {});
      exchange->Write("streamed");
      return exchange->End();
    }
    exchange->Respond({static_cast<unsigned>(std::stoi(request.body)), {}, "answered"});
    EXPECT_TRUE(exchange->started());
  }
};

class RefusalHoldTest : public testing::Test {
 protected:
  std::shared_ptr<FakeHttpExchange> Ask(const std::string& status, std::string method = "POST") {
    HttpRequest request;
    request.method = std::move(method);
    request.body = status;
    const auto exchange = std::make_shared<FakeHttpExchange>();
    hold_.Handle(std::move(request), exchange);
    return exchange;
  }

  boost::asio::io_context context_;
  Answering inner_;
  RefusalHold hold_{context_.get_executor(), inner_, milliseconds(30)};
};

TEST_F(RefusalHoldTest, OnlyRefusalsWait) {
  const auto refused = Ask("429");
  const auto served = Ask("200");
  const auto stream = Ask("", "STREAM");
  EXPECT_EQ(served->status, 200u);
  EXPECT_EQ(stream->sent, "streamed");
  EXPECT_TRUE(stream->is_ended);
  EXPECT_EQ(refused->status, 0u);
  EXPECT_EQ(hold_.held(), 1u);
  const auto begun = std::chrono::steady_clock::now();
  context_.run();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(25));
  EXPECT_EQ(refused->status, 429u);
  EXPECT_EQ(refused->sent, "answered");
  EXPECT_EQ(hold_.held(), 0u);
}

TEST_F(RefusalHoldTest, AClientThatGoesAwayIsForgotten) {
  auto refused = Ask("429");
  const std::weak_ptr<FakeHttpExchange> weak = refused;
  refused->Disconnect();
  refused.reset();
  EXPECT_TRUE(weak.expired());
  context_.run();
}

TEST_F(RefusalHoldTest, HeadsAreScreenedByTheHandler) {
  HttpRequest head;
  head.method = "SCREEN";
  EXPECT_EQ(hold_.Screen(head)->status, 403u);
}

}  // namespace
}  // namespace glovebox::mcp

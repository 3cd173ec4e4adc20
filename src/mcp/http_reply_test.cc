#include "mcp/http_reply.h"

#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "mcp/http_endpoint_fixture.h"

namespace glovebox::mcp {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

// Replies over a real server: what a client sees, and what we see of a client.
class HttpReplyTest : public HttpEndpointFixture {
 protected:
  HttpReplyTest() {
    auto listening = HttpServer::Listen(context_, *endpoint_, {});
    EXPECT_TRUE(listening.ok());
    http_ = std::move(listening).value();
  }
  ~HttpReplyTest() override {
    client_.close();
    held_.clear();
  }

  // From a client that then waits.
  void SendRaw(const HttpRequest& request) {
    client_.connect({asio::ip::address_v4::loopback(), http_->port()});
    std::string text = request.method + " " + request.target + " HTTP/1.1\r\n";
    for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
    asio::write(client_, asio::buffer(text));
    client_.non_blocking(true);
  }
  // Whether the client gets `text`, sooner or later.
  bool Receives(std::string_view text) {
    return RunUntil([&] {
      char buffer[4096];
      boost::system::error_code error;
      const std::size_t count = client_.read_some(asio::buffer(buffer), error);
      received_.append(buffer, count);
      return received_.find(text) != std::string::npos;
    });
  }
  bool Held() {
    return RunUntil([this] { return !held_.empty(); });
  }
  bool Cancelled() {
    return RunUntil([this] { return cancelled_ > 0; });
  }

  std::unique_ptr<HttpServer> http_;
  asio::ip::tcp::socket client_{context_};
  std::string received_;
};

TEST_F(HttpReplyTest, AnAnswer) {
  SendRaw(ModernTool("echo"));
  EXPECT_TRUE(Receives("\"hello\""));
  EXPECT_TRUE(received_.starts_with("HTTP/1.1 200 OK\r\n")) << received_;
}

TEST_F(HttpReplyTest, ClosingTheConnectionCancels) {
  SendRaw(ModernTool("later"));
  ASSERT_TRUE(Held());
  client_.close();
  EXPECT_TRUE(Cancelled());
}

TEST_F(HttpReplyTest, ClosingTheConnectionUnderAStreamCancels) {
  SendRaw(ModernTool("later", {{"progressToken", "p"}}));
  ASSERT_TRUE(Held());
  held_[0].Report({1, std::nullopt, ""});
  ASSERT_TRUE(Receives("notifications/progress"));
  client_.close();
  EXPECT_TRUE(Cancelled());
}

TEST_F(HttpReplyTest, ClosingOneSideDoesNotCancel) {
  SendRaw(ModernTool("later"));
  ASSERT_TRUE(Held());
  client_.shutdown(asio::ip::tcp::socket::shutdown_send);
  EXPECT_TRUE(Receives(":\n\n")) << "we look whether somebody is there";
  EXPECT_EQ(cancelled_, 0);
  held_[0].Reply({{Text("at last")}, std::nullopt, false});
  EXPECT_TRUE(Receives("at last"));
}

TEST_F(HttpReplyTest, ASubscriberThatLeavesIsForgotten) {
  SendRaw(Modern(
      ModernBody("subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}})));
  ASSERT_TRUE(Receives("notifications/subscriptions/acknowledged"));
  EXPECT_EQ(http_->connections(), 1u);
  client_.close();
  EXPECT_TRUE(RunUntil([this] { return http_->connections() == 0; }));
}

TEST_F(HttpReplyTest, ALegacyListenerThatLeavesMakesRoomForTheNext) {
  const std::string session = OpenSession();
  HttpRequest listen = Listen(session);
  SendRaw(listen);
  ASSERT_TRUE(Receives("id: 0-0\n"));
  client_.close();
  EXPECT_TRUE(RunUntil([&] { return Send(listen)->status == 200; }));
}

TEST_F(HttpReplyTest, DrainingLetsAnswersFinish) {
  SendRaw(ModernTool("later"));
  ASSERT_TRUE(Held());
  bool drained = false;
  endpoint_->Drain();
  http_->Drain(std::chrono::seconds(10), [&] { drained = true; });
  held_[0].Reply({{Text("at last")}, std::nullopt, false});
  EXPECT_TRUE(Receives("at last"));
  client_.close();
  EXPECT_TRUE(RunUntil([&] { return drained; }));
}

}  // namespace
}  // namespace glovebox::mcp

#include "transport/http_server.h"

#include <sys/resource.h>

#include <algorithm>

#include <boost/asio/post.hpp>

#include "transport/http_server_fixture.h"

namespace glovebox {
namespace {

using std::chrono::milliseconds;

// --- whole responses ---

TEST_F(HttpServerTest, HandsOutWholeRequestsAndKeepsTheConnection) {
  Serve();
  RawClient& client = Connect();
  client.Send(
      "POST /mcp?x=1 HTTP/1.1\r\nHost: test\r\nX-Thing:  some value \r\nContent-Length: 4\r\n"
      "\r\nbody");
  ASSERT_TRUE(RunUntil([&] { return client.received == kOk; })) << client.received;
  client.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return client.received == std::string(kOk) + std::string(kOk); }));
  ASSERT_EQ(handler_.requests.size(), 2U);
  const HttpRequest& request = handler_.requests[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/mcp?x=1");
  EXPECT_EQ(request.path(), "/mcp");
  EXPECT_EQ(request.Header("x-thing"), "some value");
  EXPECT_EQ(request.body, "body");
  EXPECT_EQ(request.peer, "127.0.0.1");
  EXPECT_EQ(handler_.requests[1].body, "");
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(HttpServerTest, ClosesWhenTheClientAsksForIt) {
  Serve();
  EXPECT_EQ(AnswerTo("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  clients_.clear();
  EXPECT_TRUE(RunUntil([&] { return server_->connections() == 0; }, milliseconds(1000)));
}

TEST_F(HttpServerTest, SpeaksHttp10) {
  Serve();
  EXPECT_EQ(AnswerTo("GET / HTTP/1.0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  RawClient& client = Connect();
  client.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(RunUntil([&] {
    return client.received ==
           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok";
  })) << client.received;
  client.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(RunUntil([&] { return client.ended; }));
}

TEST_F(HttpServerTest, AnswersHeadWithoutTheBodyAndTheNextRequestWithIt) {
  Serve();
  RawClient& client = Connect();
  client.Send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
  ASSERT_TRUE(
      RunUntil([&] { return client.received == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"; }));
  client.received.clear();
  client.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return client.received == kOk; }));
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInTheirOrderOneAtATime) {
  Serve();
  Hold();
  RawClient& client = Connect();
  client.Send(Post("one") + Post("two") + std::string(kGet));
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 1; }));
  RunFor(milliseconds(20));
  ASSERT_EQ(held_.size(), 1U);
  held_[0]->Respond({200, {}, "1"});
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 2; }));
  held_[1]->Respond({202, {}, ""});
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 3; }));
  held_[2]->Respond({200, {}, "3"});
  ASSERT_TRUE(RunUntil([&] { return client.statuses().size() == 3; }));
  EXPECT_EQ(client.received,
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3");
  EXPECT_EQ(handler_.requests[1].body, "two");
}

TEST_F(HttpServerTest, AnswersARequestThatComesByteByByteAndOneOfMegabytes) {
  Serve({.body_bytes_max = 4u << 20});
  RawClient& client = Connect();
  for (const char byte : Post("slowly")) {
    client.Send(std::string_view(&byte, 1));
    context_.restart();
    context_.poll();
  }
  ASSERT_TRUE(RunUntil([&] { return client.received == kOk; }));
  EXPECT_EQ(handler_.requests[0].body, "slowly");

  const std::string large(4u << 20, 'x');
  client.Send(Post(large));
  ASSERT_TRUE(RunUntil([&] { return handler_.requests.size() == 2; }));
  EXPECT_EQ(handler_.requests[1].body, large);
}

TEST_F(HttpServerTest, ReadsChunkedBodies) {
  Serve();
  RawClient& client = Connect();
  client.Send(
      "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1;ext=\"v\"\r\n,\r\n6\r\n world\r\n0\r\nTrailer: no header\r\n\r\n");
  client.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return client.statuses() == std::vector{200, 200}; }));
  EXPECT_EQ(handler_.requests[0].body, "hello, world");
  EXPECT_FALSE(handler_.requests[0].Header("Trailer"));
}

TEST_F(HttpServerTest, AsksForTheBodyOnlyAfterTheHeadWasTaken) {
  Serve();
  handler_.screen = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (head.Header("Authorization")) return std::nullopt;
    return HttpResponse{401, {}, "no"};
  };
  const std::string head =
      "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n";
  RawClient& client = Connect();
  client.Send(head + "Authorization: yes\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return client.received == "HTTP/1.1 100 Continue\r\n\r\n"; }));
  EXPECT_TRUE(handler_.requests.empty());
  client.received.clear();
  client.Send("body");
  ASSERT_TRUE(RunUntil([&] { return client.received == kOk; }));
  // Whoever does not wait is not asked.
  client.received.clear();
  client.Send(head + "Authorization: yes\r\n\r\nbody");
  EXPECT_TRUE(RunUntil([&] { return client.received == kOk; })) << client.received;

  EXPECT_EQ(AnswerTo(head + "\r\n"),
            "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
}

TEST_F(HttpServerTest, AHeadRefusedWithoutABodyLeavesTheConnectionOpen) {
  Serve();
  handler_.screen = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    EXPECT_EQ(head.peer, "127.0.0.1");
    if (head.method == "GET") return HttpResponse{429, {{"Retry-After", "2"}}, ""};
    return std::nullopt;
  };
  RawClient& client = Connect();
  client.Send(std::string(kGet) + Post("x"));
  ASSERT_TRUE(RunUntil([&] { return client.statuses().size() == 2; })) << client.received;
  EXPECT_EQ(client.received,
            "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n" +
                std::string(kOk));
  EXPECT_EQ(handler_.requests.size(), 1U);
}

TEST_F(HttpServerTest, LargeResponsesArriveWhole) {
  Serve();
  const std::string large(20u << 20, 'y');
  handler_.handle = [&](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->Respond({200, {}, large});
  };
  RawClient& client = Connect();
  client.Send(kGet);
  client.Send(kGet);
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 20971520\r\n\r\n";
  ASSERT_TRUE(RunUntil([&] { return client.received.size() >= 2 * (head.size() + large.size()); }));
  EXPECT_TRUE(client.received == head + large + head + large);
}

TEST_F(HttpServerTest, AnExchangeDroppedWithoutAnAnswerAnswers500) {
  Serve();
  Hold();
  RawClient& client = Connect();
  client.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 1; }));
  held_.clear();
  ASSERT_TRUE(RunUntil([&] { return !client.received.empty(); }));
  EXPECT_EQ(client.statuses(), std::vector{500});
  client.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return held_.size() == 1; }));  // the connection goes on

  handler_.handle = [](const HttpRequest&, const std::shared_ptr<HttpExchange>&) {};
  RawClient& other = Connect();
  other.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return !other.received.empty(); }));
  EXPECT_EQ(other.statuses(), std::vector{500});
}

TEST_F(HttpServerTest, AHandlerThatThrowsLosesItsPeerOnly) {
  Serve();
  RawClient& bystander = Connect();
  handler_.handle = [](const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
    if (request.method == "POST") throw std::runtime_error("a bug");
    exchange->Respond({200, {}, "ok"});
  };
  RawClient& client = Connect();
  client.Send(Post("x"));
  ASSERT_TRUE(RunUntil([&] { return client.ended || client.reset; }));
  bystander.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return bystander.received == kOk; }));
  EXPECT_EQ(server_->connections(), 1U);
}

// --- listening ---

TEST_F(HttpServerTest, ListensOnAddressesOfBothKindsAndOnNames) {
  Serve({.host = "::1"});
  RawClient& v6 = Connect("::1");
  v6.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return v6.received == kOk; }));
  EXPECT_EQ(handler_.requests.back().peer, "::1");

  Serve({.host = "localhost"});
  RawClient& named = Connect("127.0.0.1");
  named.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return named.received == kOk; }));

  Serve({.host = "::"});
  RawClient& v4 = Connect("127.0.0.1");
  v4.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return v4.received == kOk; }));
  EXPECT_EQ(handler_.requests.back().peer, "127.0.0.1");
}

TEST_F(HttpServerTest, SaysWhereItCannotListen) {
  Serve();
  const auto taken = HttpServer::Listen(context_, handler_, {.port = server_->port()});
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().message(), "listening on 127.0.0.1 port " +
                                         std::to_string(server_->port()) +
                                         ": Address already in use");
  const auto unknown = HttpServer::Listen(context_, handler_, {.host = "no such host"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message().find("the host 'no such host' to listen on: "),
            std::string::npos);
}

TEST_F(HttpServerTest, RefusesConnectionsOverTheLimitAndTakesThemWhenThereIsRoom) {
  Serve({.connections_max = 2});
  RawClient& one = Connect();
  Connect();
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 2; }));
  RawClient& third = Connect();
  third.Send(Post("a request that nobody reads"));
  ASSERT_TRUE(RunUntil([&] { return third.ended; }));
  EXPECT_EQ(third.statuses(), std::vector{503});
  EXPECT_NE(third.received.find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_EQ(server_->connections(), 2U);

  one.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return one.received == kOk; }));
  one.Close();
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 1; }));
  RawClient& fourth = Connect();
  fourth.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return fourth.received == kOk; }));
}

TEST_F(HttpServerTest, OnePeerCannotHaveAllConnections) {
  Serve({.host = "::", .connections_per_peer_max = 3});
  for (int i = 0; i < 3; ++i) Connect("127.0.0.1");
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 3; }));
  RawClient& same = Connect("127.0.0.1");
  ASSERT_TRUE(RunUntil([&] { return same.ended; }));
  EXPECT_EQ(same.statuses(), std::vector{503});
  RawClient& other = Connect("::1");
  other.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return other.received == kOk; }));
}

TEST_F(HttpServerTest, AFloodOfRefusedConnectionsIsBounded) {
  Serve({.connections_max = 1});
  RawClient& first = Connect();
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 1; }));
  const std::size_t before = OpenDescriptors();
  for (int i = 0; i < 400; ++i) {
    RawClient& client = Connect();
    client.reading = false;  // it does not even look
    RunFor(milliseconds(0));
  }
  RunFor(milliseconds(50));
  EXPECT_LE(OpenDescriptors() - before, 400U + 256U);
  first.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return first.received == kOk; }));
}

TEST_F(HttpServerTest, WithoutDescriptorsItWaitsInsteadOfSpinning) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer itself needs descriptors to look at memory";
#endif
  Serve();
  RunFor(milliseconds(5));
  RawClient& client = Connect();
  client.Send(kGet);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // The limit is on the highest number, and the lowest free one is taken next.
  const UniqueFd next(::fcntl(client.fd(), F_DUPFD_CLOEXEC, 0));
  const rlimit none{.rlim_cur = static_cast<rlim_t>(next.get()), .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  context_.restart();
  const std::size_t handlers = context_.run_for(milliseconds(500));
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(server_->connections(), 0U);
  EXPECT_LE(handlers, 10U);
  EXPECT_TRUE(RunUntil([&] { return client.received == kOk; }));
}

TEST_F(HttpServerTest, LeaksNoDescriptor) {
  Serve();
  RunFor(milliseconds(5));
  const std::size_t before = OpenDescriptors();
  for (int round = 0; round < 20; ++round) {
    Connect().Send(kGet);
    Connect().Send("POST / HTTP/1.1\r\n");  // never complete
    Connect().Send("not HTTP\r\n\r\n");
    Connect().Send(std::string(kGet) + std::string(kGet));
    RunFor(milliseconds(2));
    clients_[1]->Reset();
    clients_.clear();
  }
  EXPECT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
  EXPECT_EQ(OpenDescriptors(), before);
}

// --- the end ---

TEST_F(HttpServerTest, DrainLetsResponsesFinishAndClosesWhatIsIdle) {
  Serve();
  Hold();
  RawClient& idle = Connect();
  RawClient& busy = Connect();
  RawClient& sending = Connect();
  busy.Send(kGet);
  sending.Send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbo");
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 1 && handler_.screened == 2; }));
  bool drained = false;
  server_->Drain(milliseconds(5000), [&] { drained = true; });
  EXPECT_FALSE(drained);
  ASSERT_TRUE(RunUntil([&] { return idle.ended; }));
  sending.Send("dy");
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 2; }));
  EXPECT_FALSE(drained);
  for (const auto& exchange : held_) exchange->Respond({200, {}, "ok"});
  const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  ASSERT_TRUE(RunUntil([&] { return busy.ended && sending.ended; }));
  EXPECT_EQ(busy.received, last);
  EXPECT_EQ(sending.received, last);
  busy.Close();
  sending.Close();
  EXPECT_TRUE(RunUntil([&] { return drained; }));
  // Nobody listens any more.
  EXPECT_FALSE(RawClient(server_->port()).connected);
}

TEST_F(HttpServerTest, DrainGivesUpAfterItsTimeAndTellsTheOwners) {
  Serve();
  Hold();
  RawClient& client = Connect();
  client.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 1; }));
  bool disconnected = false;
  held_[0]->OnDisconnect([&] { disconnected = true; });
  bool drained = false;
  const auto start = std::chrono::steady_clock::now();
  server_->Drain(milliseconds(100), [&] { drained = true; });
  ASSERT_TRUE(RunUntil([&] { return drained; }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(100));
  EXPECT_TRUE(disconnected);
  EXPECT_TRUE(RunUntil([&] { return client.ended || client.reset; }));
}

TEST_F(HttpServerTest, DrainWithoutConnectionsIsDoneAtOnceButNotInside) {
  Serve();
  bool drained = false;
  server_->Drain(milliseconds(5000), [&] { drained = true; });
  EXPECT_FALSE(drained);
  EXPECT_TRUE(RunUntil([&] { return drained; }));
}

TEST_F(HttpServerTest, ExchangesOutliveTheServer) {
  Serve();
  Hold();
  RawClient& one = Connect();
  RawClient& two = Connect();
  one.Send(kGet);
  two.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 2; }));
  bool hook_ran = false;
  for (const auto& exchange : held_) exchange->OnDisconnect([&] { hook_ran = true; });
  held_[1]->StartStream(200, {});
  server_.reset();
  held_[0]->Respond({200, {}, "too late"});
  held_[1]->Write("too late");
  EXPECT_FALSE(held_[1]->congested());
  held_[1]->End();
  held_[1]->OnDisconnect([&] { hook_ran = true; });
  ASSERT_TRUE(RunUntil([&] { return (one.ended || one.reset) && (two.ended || two.reset); }));
  held_.clear();
  RunFor(milliseconds(10));
  EXPECT_EQ(one.received, "");
  EXPECT_FALSE(hook_ran);
}

TEST_F(HttpServerTest, TheHandlerMayDestroyTheServer) {
  Serve();
  handler_.handle = [this](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    server_.reset();
    exchange->Respond({200, {}, "nobody hears"});
  };
  RawClient& client = Connect();
  client.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return client.ended || client.reset; }));
}

}  // namespace
}  // namespace glovebox

#include "transport/http_connection.h"

#include <boost/asio/post.hpp>

#include "transport/http_server_fixture.h"

// What a connection does while a response is under way, and with peers that mean no good. Driven
// through the server, as clients do.

namespace glovebox {
namespace {

using std::chrono::milliseconds;

class HttpConnectionTest : public HttpServerTest {
 protected:
  static constexpr std::string_view kStreamHead =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  // A request whose exchange is held.
  RawClient& ConnectAndAsk(std::string_view request = kGet, int receive_buffer_bytes = 0) {
    Hold();
    RawClient& client = Connect("127.0.0.1", receive_buffer_bytes);
    client.Send(request);
    const std::size_t before = held_.size();
    EXPECT_TRUE(RunUntil([&] { return held_.size() > before; }));
    held_.back()->OnDisconnect([this] { ++disconnects_; });
    held_.back()->OnHalfClose([this] { ++half_closes_; });
    return client;
  }
  HttpExchange& exchange() { return *held_.back(); }
  void StartStream() { exchange().StartStream(200, {{"Content-Type", "text/event-stream"}}); }

  int disconnects_ = 0;
  int half_closes_ = 0;
};

// --- streams ---

TEST_F(HttpConnectionTest, AStreamIsDeliveredWriteByWriteAndTheConnectionGoesOn) {
  Serve();
  RawClient& client = ConnectAndAsk();
  EXPECT_FALSE(exchange().started());
  StartStream();
  EXPECT_TRUE(exchange().started());
  ASSERT_TRUE(RunUntil([&] { return client.received == kStreamHead; })) << client.received;
  client.received.clear();
  exchange().Write("data: one\n\n");
  ASSERT_TRUE(RunUntil([&] { return client.received == "b\r\ndata: one\n\n\r\n"; }));
  client.received.clear();
  exchange().Write("");  // would end it
  exchange().Write("two");
  exchange().Write(std::string(17, 'x'));
  exchange().End();
  ASSERT_TRUE(RunUntil([&] {
    return client.received == "3\r\ntwo\r\n11\r\n" + std::string(17, 'x') + "\r\n0\r\n\r\n";
  })) << client.received;
  client.received.clear();
  handler_.handle = nullptr;
  client.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return client.received == kOk; }));
  EXPECT_EQ(disconnects_, 0);
}

TEST_F(HttpConnectionTest, AStreamForHttp10EndsWithTheConnection) {
  Serve();
  RawClient& client = ConnectAndAsk("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  exchange().StartStream(200, {});
  exchange().Write("one");
  exchange().Write("two");
  exchange().End();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_EQ(client.received, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nonetwo");
}

TEST_F(HttpConnectionTest, AStreamInAnswerToHeadIsItsHead) {
  Serve();
  RawClient& client = ConnectAndAsk("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
  StartStream();
  exchange().Write("unseen");
  exchange().End();
  handler_.handle = nullptr;
  client.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return client.statuses().size() == 2; }));
  EXPECT_EQ(client.received, std::string(kStreamHead) + std::string(kOk));
}

TEST_F(HttpConnectionTest, AStreamOfManyLargeAndSmallWritesArrivesWhole) {
  Serve({.outgoing_bytes_high_water = 100'000});
  RawClient& client = ConnectAndAsk("GET / HTTP/1.0\r\n\r\n", 8192);
  exchange().StartStream(200, {});
  std::string expected = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
  for (int i = 0; i < 2000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 100 == 0 ? 70'000 : i % 97),
                            static_cast<char>('a' + i % 26));
    expected += piece;
    exchange().Write(piece);
    if (i % 500 == 0) RunFor(milliseconds(1));
  }
  EXPECT_TRUE(exchange().congested());
  exchange().End();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }, milliseconds(20'000)));
  EXPECT_TRUE(client.received == expected);
}

TEST_F(HttpConnectionTest, ADroppedStreamIsBrokenOffAfterWhatWasWritten) {
  Serve();
  RawClient& client = ConnectAndAsk();
  StartStream();
  exchange().Write("half");
  held_.clear();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_EQ(client.received, std::string(kStreamHead) + "4\r\nhalf\r\n");  // and no last chunk
}

// --- slow readers ---

TEST_F(HttpConnectionTest, APeerThatDoesNotReadCongestsAndIsGivenUpAtTheLimit) {
  Serve({.outgoing_bytes_high_water = 1u << 20, .outgoing_bytes_max = 16u << 20});
  RawClient& client = ConnectAndAsk();
  client.reading = false;
  StartStream();
  EXPECT_FALSE(exchange().congested());
  bool congested = false;
  std::size_t written = 0;
  while (disconnects_ == 0 && written < (64u << 20)) {
    exchange().Write(std::string(1u << 20, 'x'));
    written += 1u << 20;
    EXPECT_EQ(disconnects_, 0);  // never inside the call
    RunFor(milliseconds(2));
    congested = congested || exchange().congested();
  }
  EXPECT_TRUE(congested);
  EXPECT_EQ(disconnects_, 1);
  EXPECT_LE(written, 32u << 20);
  EXPECT_EQ(server_->connections(), 0U);
  exchange().Write("nobody");
  exchange().End();
}

TEST_F(HttpConnectionTest, APeerThatTakesNothingForTooLongIsGivenUp) {
  Serve({.write_time_max = milliseconds(200)});
  RawClient& client = ConnectAndAsk();
  client.reading = false;
  StartStream();
  exchange().Write(std::string(16u << 20, 'x'));
  RunFor(milliseconds(100));
  EXPECT_EQ(disconnects_, 0);
  EXPECT_TRUE(RunUntil([&] { return disconnects_ == 1; }, milliseconds(1000)));
}

TEST_F(HttpConnectionTest, APeerThatReadsSlowlyIsNot) {
  Serve({.write_time_max = milliseconds(200)});
  RawClient& client = ConnectAndAsk(kGet, 4096);
  client.reading = false;
  StartStream();
  exchange().Write(std::string(16u << 20, 'x'));
  std::array<char, 65536> buffer{};
  for (int i = 0; i < 20; ++i) {  // far too little to make the socket writable again
    RunFor(milliseconds(50));
    EXPECT_GT(::recv(client.fd(), buffer.data(), buffer.size(), 0), 0);
  }
  EXPECT_EQ(disconnects_, 0);
}

// --- peers that leave ---

TEST_F(HttpConnectionTest, AResetRunsTheDisconnectHookOnce) {
  Serve();
  RawClient& client = ConnectAndAsk();
  client.Reset();
  ASSERT_TRUE(RunUntil([&] { return disconnects_ == 1; }));
  EXPECT_EQ(server_->connections(), 0U);
  exchange().Respond({200, {}, "nobody"});
  // Who asks late is told, too; who is done is not.
  RawClient& other = ConnectAndAsk();
  other.Reset();
  ASSERT_TRUE(RunUntil([&] { return disconnects_ == 2; }));
  exchange().OnDisconnect([this] { disconnects_ += 10; });
  EXPECT_EQ(disconnects_, 2);
  EXPECT_TRUE(RunUntil([&] { return disconnects_ == 12; }));
  exchange().Respond({200, {}, "nobody"});
  exchange().OnDisconnect([this] { disconnects_ += 100; });
  RunFor(milliseconds(10));
  EXPECT_EQ(disconnects_, 12);
  EXPECT_EQ(half_closes_, 0);
}

TEST_F(HttpConnectionTest, AResetDuringAStreamOrWithTheNextRequestWaitingIsSeen) {
  Serve();
  RawClient& streaming = ConnectAndAsk();
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return streaming.received == kStreamHead; }));
  streaming.Reset();
  EXPECT_TRUE(RunUntil([&] { return disconnects_ == 1; }));

  RawClient& pipelining = ConnectAndAsk(std::string(kGet) + std::string(kGet));
  RunFor(milliseconds(5));
  pipelining.Reset();
  EXPECT_TRUE(RunUntil([&] { return disconnects_ == 2; }));

  RawClient& later = ConnectAndAsk();
  later.Send(kGet);
  RunFor(milliseconds(5));
  later.Reset();
  EXPECT_TRUE(RunUntil([&] { return disconnects_ == 3; }));
  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(HttpConnectionTest, AHalfClosedPeerGetsItsWholeAnswer) {
  Serve();
  RawClient& client = ConnectAndAsk();
  client.EndSending();
  ASSERT_TRUE(RunUntil([&] { return half_closes_ == 1; }));
  RunFor(milliseconds(20));
  EXPECT_EQ(disconnects_, 0);
  StartStream();
  exchange().Write(": probe\n\n");
  RunFor(milliseconds(20));
  EXPECT_EQ(disconnects_, 0);
  exchange().Write("data: answer\n\n");
  exchange().End();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_EQ(client.received,
            std::string(kStreamHead) + "9\r\n: probe\n\n\r\ne\r\ndata: answer\n\n\r\n0\r\n\r\n");
  EXPECT_EQ(half_closes_, 1);
  EXPECT_EQ(disconnects_, 0);
}

TEST_F(HttpConnectionTest, AHalfClosedPeerGetsTheAnswersToAllItHasAsked) {
  Serve();
  RawClient& client = Connect();
  client.Send(Post("one") + std::string(kGet) + Post("three"));
  client.EndSending();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_EQ(client.statuses(), (std::vector{200, 200, 200}));

  // The hook of a request that was here before the end of input was known runs as well.
  RawClient& other = ConnectAndAsk(std::string(kGet) + std::string(kGet));
  other.EndSending();
  RunFor(milliseconds(5));
  exchange().Respond({200, {}, "ok"});
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 2; }));
  half_closes_ = 0;
  exchange().OnHalfClose([this] { ++half_closes_; });
  EXPECT_EQ(half_closes_, 0);
  exchange().Respond({200, {}, "ok"});
  ASSERT_TRUE(RunUntil([&] { return other.ended; }));
  EXPECT_EQ(half_closes_, 0);  // none after the response
}

TEST_F(HttpConnectionTest, AProbeShowsThatAPeerIsGone) {
  Serve();
  for (const bool started_before : {false, true}) {
    disconnects_ = half_closes_ = 0;
    RawClient& client = ConnectAndAsk();
    if (started_before) {
      StartStream();
      ASSERT_TRUE(RunUntil([&] { return client.received == kStreamHead; }));
    }
    client.Close();
    ASSERT_TRUE(RunUntil([&] { return half_closes_ == 1; }));
    RunFor(milliseconds(20));
    EXPECT_EQ(disconnects_, 0);
    if (!started_before) StartStream();
    exchange().Write(": probe\n\n");
    EXPECT_TRUE(RunUntil([&] { return disconnects_ == 1; }));
    EXPECT_EQ(half_closes_, 1);
  }
}

TEST_F(HttpConnectionTest, AHookMayAnswerAndItsCapturesMayBeTheOwner) {
  Serve();
  Hold();
  RawClient& client = Connect();
  client.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return held_.size() == 1; }));
  // An owner that only its hooks keep alive.
  struct Owner {
    std::shared_ptr<HttpExchange> exchange;
    std::string text = "the owner lives";
    void Answer() {
      exchange->Respond({200, {}, text});
      text += " still";
    }
  };
  auto owner = std::make_shared<Owner>();
  const std::weak_ptr<Owner> watched = owner;
  owner->exchange = std::move(held_.front());
  held_.clear();
  HttpExchange& its_exchange = *owner->exchange;
  its_exchange.OnDisconnect([owner] { owner->text.clear(); });
  its_exchange.OnHalfClose([owner] { owner->Answer(); });
  owner.reset();
  client.EndSending();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_NE(client.received.find("the owner lives"), std::string::npos);
  EXPECT_TRUE(watched.expired());
}

TEST_F(HttpConnectionTest, UrgentDataIsNoPartOfHttp) {
  Serve();
  RawClient& client = ConnectAndAsk(std::string(kGet) + std::string(kGet));
  RunFor(milliseconds(5));
  EXPECT_EQ(::send(client.fd(), "!", 1, MSG_OOB), 1);
  context_.restart();
  EXPECT_LE(context_.run_for(milliseconds(100)), 100U);  // no spinning
}

// --- peers that mean no good ---

TEST_F(HttpConnectionTest, RefusesWithTheRightStatusAndCloses) {
  Serve({.head_bytes_max = 1024, .body_bytes_max = 1000});
  const std::vector<std::pair<std::string, int>> cases = {
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdefgh", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413},
      {"GET /" + std::string(2000, 'x'), 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(2000, 'x'), 431},
      {"POST / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\n", 417},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : cases) {
    RawClient& client = Connect();
    client.Send(bytes);
    ASSERT_TRUE(RunUntil([&] { return client.ended; })) << bytes;
    EXPECT_EQ(client.statuses(), std::vector{status}) << bytes;
    EXPECT_NE(client.received.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(client.received.ends_with("\n"));  // a sentence that says why
  }
  EXPECT_TRUE(handler_.requests.empty());
  clients_.clear();
  EXPECT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
  EXPECT_EQ(AnswerTo("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").substr(0, 15),
            "HTTP/1.1 200 OK");
}

TEST_F(HttpConnectionTest, AClientStillSendingReadsWhyItWasRefused) {
  Serve({.body_bytes_max = 1000});
  RawClient& announced = Connect();
  announced.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n" +
                 std::string(20'000'000, 'x'));
  ASSERT_TRUE(RunUntil([&] { return announced.unsent.empty() && announced.ended; }));
  EXPECT_FALSE(announced.reset);
  EXPECT_EQ(announced.statuses(), std::vector{413});

  RawClient& chunked = Connect();
  chunked.Send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n" +
               std::string(256, 'x') + "\r\nffff\r\n" + std::string(10'000'000, 'y'));
  ASSERT_TRUE(RunUntil([&] { return chunked.unsent.empty() && chunked.ended; }));
  EXPECT_EQ(chunked.statuses(), std::vector{413});
  EXPECT_TRUE(handler_.requests.empty());
}

TEST_F(HttpConnectionTest, SlowHeadsAndBodiesTimeOut) {
  Serve({.head_time_max = milliseconds(200), .body_time_max = milliseconds(300)});
  RawClient& head = Connect();
  RawClient& body = Connect();
  RawClient& chunks = Connect();
  RawClient& silent = Connect();
  head.Send("GET / HTTP/1.1\r\nHost: test\r\nX: ");
  body.Send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n");
  chunks.Send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto start = std::chrono::steady_clock::now();
  // Each goes on at a pace that would keep a time-out per read from ever coming.
  ASSERT_TRUE(RunUntil([&] {
    context_.restart();
    context_.run_for(milliseconds(10));
    if (!head.ended) head.Send("x");
    if (!body.ended) body.Send("x");
    if (!chunks.ended) chunks.Send("1\r\nx\r\n");
    return head.ended && body.ended && chunks.ended && silent.ended;
  }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(300));
  EXPECT_LE(std::chrono::steady_clock::now() - start, milliseconds(1500));
  EXPECT_EQ(head.statuses(), std::vector{408});
  EXPECT_EQ(body.statuses(), std::vector{408});
  EXPECT_EQ(chunks.statuses(), std::vector{408});
  EXPECT_EQ(silent.received, "");
}

TEST_F(HttpConnectionTest, IdleConnectionsAreClosedQuietlyAndOnlyWhenIdle) {
  Serve({.head_time_max = milliseconds(100), .idle_time_max = milliseconds(400)});
  RawClient& idle = Connect();
  idle.Send(kGet);
  ASSERT_TRUE(RunUntil([&] { return idle.received == kOk; }));
  RawClient& waiting = ConnectAndAsk();
  RunFor(milliseconds(250));
  EXPECT_FALSE(idle.ended);  // the time for a head begins with its first byte
  ASSERT_TRUE(RunUntil([&] { return idle.ended; }));
  EXPECT_EQ(idle.received, kOk);
  RunFor(milliseconds(200));
  EXPECT_FALSE(waiting.ended);  // a response takes the time it takes
  exchange().Respond({200, {}, "ok"});
  EXPECT_TRUE(RunUntil([&] { return waiting.received == kOk; }));
}

TEST_F(HttpConnectionTest, AnIncompleteRequestBeforeTheEndOfInputIsRefused) {
  Serve();
  for (const std::string_view part :
       {"GET / HTTP/1.1\r\nHost:", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc"}) {
    RawClient& client = Connect();
    client.Send(part);
    client.EndSending();
    ASSERT_TRUE(RunUntil([&] { return client.ended; }));
    EXPECT_EQ(client.statuses(), std::vector{400});
  }
  RawClient& nothing = Connect();
  nothing.EndSending();
  ASSERT_TRUE(RunUntil([&] { return nothing.ended; }));
  EXPECT_EQ(nothing.received, "");
}

TEST_F(HttpConnectionTest, APipelineThatReadsNothingIsHeldBack) {
  Serve();
  const std::string large(1u << 20, 'z');
  handler_.handle = [&](const HttpRequest&, const std::shared_ptr<HttpExchange>& exchange) {
    exchange->Respond({200, {}, large});
  };
  RawClient& client = Connect("127.0.0.1", 4096);
  client.reading = false;
  for (int i = 0; i < 1000; ++i) client.Send(kGet);
  RunFor(milliseconds(100));
  EXPECT_LE(handler_.requests.size(), 20U);
  RawClient& other = Connect();
  handler_.handle = nullptr;
  other.Send(kGet);
  EXPECT_TRUE(RunUntil([&] { return other.received == kOk; }));
}

}  // namespace
}  // namespace glovebox

#include "transport/http_client.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// A server that says what it is told to. Each request head it reads is answered by the next reply:
// pieces to write with a pause after each; "<close>" closes, "<hang>" says nothing for good.
class ScriptedServer {
 public:
  using Reply = std::vector<std::string>;

  explicit ScriptedServer(asio::io_context& context)
      : acceptor_(context, {asio::ip::address_v4::loopback(), 0}) {
    asio::co_spawn(context, Accept(), asio::detached);
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void Stop() { acceptor_.close(); }

  std::vector<Reply> replies;
  std::vector<std::string> requests;  // head and what came with it
  int connections = 0;
  int lost = 0;  // connections that the client closed

 private:
  asio::awaitable<void> Accept() {
    while (true) {
      auto [error, socket] = co_await acceptor_.async_accept(kTuple);
      if (error) co_return;
      ++connections;
      asio::co_spawn(acceptor_.get_executor(), Serve(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> Serve(tcp::socket socket) {
    std::string buffer;
    while (true) {
      auto [error, head] =
          co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer), "\r\n\r\n", kTuple);
      if (error) {
        ++lost;
        co_return;
      }
      requests.push_back(std::exchange(buffer, {}));
      if (replies.empty()) co_return;
      const Reply reply = replies.front();
      replies.erase(replies.begin());
      for (const std::string& piece : reply) {
        if (piece == "<close>") co_return;
        if (piece == "<hang>") break;
        co_await asio::async_write(socket, asio::buffer(piece), kTuple);
        asio::steady_timer pause(socket.get_executor(), milliseconds(5));
        co_await pause.async_wait(kTuple);
      }
    }
  }

  tcp::acceptor acceptor_;
};

// A response in words: "200 OK|body|complete".
struct Heard {
  std::string text;
  std::vector<std::string> pieces;
  bool over = false;
};

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest() : server_(context_) { MakeClient({}); }
  ~HttpClientTest() override {
    fetches_.clear();
    server_.Stop();
    context_.restart();
    context_.poll();
  }

  void MakeClient(HttpClientOptions options, std::string host = "127.0.0.1") {
    client_ = std::make_unique<HttpClient>(context_, HttpUrl{std::move(host), server_.port(), "/"},
                                           options);
  }
  HttpResponseReceiver Receiver(Heard& heard) {
    return {[&heard](const HttpResponseHead& head) {
              heard.text += std::to_string(head.status) + ' ' + head.reason + '|';
            },
            [&heard](std::string_view piece) {
              heard.text += piece;
              heard.pieces.emplace_back(piece);
            },
            [&heard](const Status& end) {
              heard.over = true;
              heard.text += '|' + (end.ok() ? "complete" : end.error().message());
            }};
  }
  void Run(const bool& until) {
    context_.restart();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!until && std::chrono::steady_clock::now() < deadline)
      context_.run_one_for(milliseconds(100));
  }
  std::string Fetch(HttpClientRequest request = {}, HttpClient::Patience patience = {}) {
    Heard heard;
    const auto fetch = client_->Start(std::move(request), Receiver(heard), patience);
    Run(heard.over);
    // The server's address changes from run to run.
    const std::string authority = client_->server().authority() + ": ";
    if (const auto at = heard.text.find(authority); at != std::string::npos) {
      heard.text.erase(at, authority.size());
    }
    return heard.text;
  }
  void Settle() {
    context_.restart();
    context_.run_for(milliseconds(30));
  }

  asio::io_context context_;
  ScriptedServer server_;
  std::unique_ptr<HttpClient> client_;
  std::vector<std::unique_ptr<HttpClient::Fetch>> fetches_;
};

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(HttpClientTest, SendsWhatItIsGiven) {
  server_.replies = {{kOk}};
  EXPECT_EQ(Fetch({"POST", "/a?b", {{"X-One", "1"}, {"X-Two", "2"}}, "body", false}),
            "200 OK|ok|complete");
  EXPECT_THAT(server_.requests,
              ElementsAre("POST /a?b HTTP/1.1\r\nHost: " + client_->server().authority() +
                          "\r\nX-One: 1\r\nX-Two: 2\r\nContent-Length: 4\r\n\r\nbody"));
}

TEST_F(HttpClientTest, ReusesConnections) {
  server_.replies = {{kOk}, {kOk}, {"HTTP/1.1 204 No Content\r\n\r\n"}, {kOk}};
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(client_->idle_connections(), 1u);
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(Fetch(), "204 No Content||complete");
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(server_.connections, 1);
}

TEST_F(HttpClientTest, KeepsNoConnectionThatCannotBeKept) {
  server_.replies = {{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"},
                     {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok"},
                     {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "<close>"},
                     {std::string(kOk) + "and more"}};
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(Fetch(), "200 OK|until the end|complete");
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(client_->idle_connections(), 0u);
  EXPECT_EQ(server_.connections, 4);
}

TEST_F(HttpClientTest, NoticesThatAKeptConnectionIsDead) {
  server_.replies = {{kOk, "<close>"}, {kOk}};
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  Settle();
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(server_.connections, 2);
}

TEST_F(HttpClientTest, RepeatsOnlyWhatMayBeRepeated) {
  // The server closes the kept connection when it gets the next request.
  server_.replies = {{kOk}, {"<close>"}, {kOk}, {"<close>"}, {"<close>"}};
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(Fetch({"GET", "/", {}, "", true}), "200 OK|ok|complete");
  EXPECT_EQ(Fetch(), "|waiting for the response: the server closed the connection");
  EXPECT_EQ(Fetch({"GET", "/", {}, "", true}),
            "|waiting for the response: the server closed the connection")
      << "on a new connection there is no second try";
}

TEST_F(HttpClientTest, HandsPiecesOutAsTheyCome) {
  server_.replies = {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\none\r\n",
                      "3\r\ntw", "o\r\n", "0\r\n\r\n"},
                     {kOk}};
  Heard heard;
  const auto fetch = client_->Start({}, Receiver(heard), {});
  Run(heard.over);
  EXPECT_EQ(heard.text, "200 OK|onetwo|complete");
  EXPECT_THAT(heard.pieces, ElementsAre("one", "tw", "o"));
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(server_.connections, 1);
}

TEST_F(HttpClientTest, PassesInterimResponses) {
  const std::string interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
  std::string flood;
  for (int count = 0; count < 20; ++count) flood += interim;
  server_.replies = {{"HTTP/1.1 100 Continue\r\n\r\n", interim + kOk}, {flood + kOk}};
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  EXPECT_EQ(Fetch(), "|waiting for the response: the response's head is too large");
}

TEST_F(HttpClientTest, NamesWhatIsWrongWithAResponse) {
  HttpClientOptions options;
  options.head_bytes_max = 1000;
  MakeClient(options);
  server_.replies = {{"SSH-2.0-OpenSSH\r\n\r\n"},
                     {"<close>"},
                     {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "<close>"},
                     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
                     {"HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n"},
                     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
                     {"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"}};
  EXPECT_THAT(Fetch(), HasSubstr("|waiting for the response: not HTTP: "));
  EXPECT_EQ(Fetch(), "|waiting for the response: the server closed the connection");
  EXPECT_EQ(Fetch(),
            "200 OK|half|reading the response: the server closed the connection too early");
  EXPECT_THAT(Fetch(), HasSubstr("200 OK||reading the response: not HTTP: "));
  EXPECT_EQ(Fetch(), "|waiting for the response: the response's head is too large");
  EXPECT_THAT(Fetch(), HasSubstr("|waiting for the response: not HTTP: "));
  EXPECT_EQ(Fetch(), "|the server switched protocols");
}

TEST_F(HttpClientTest, IsPatientWithinBounds) {
  server_.replies = {{"<hang>"}, {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "<hang>"}};
  EXPECT_EQ(Fetch({}, {milliseconds(30), milliseconds(0)}),
            "|waiting for the response: no reply in time");
  EXPECT_EQ(Fetch({}, {milliseconds(0), milliseconds(30)}),
            "200 OK|ab|reading the response: no reply in time");
}

TEST_F(HttpClientTest, RefusesWhatWouldBreakTheFraming) {
  EXPECT_EQ(Fetch({"GET", "/", {{"X", "a\r\nY: b"}}, "", false}),
            "|the header X must not hold control characters");
  EXPECT_EQ(Fetch({"GET", "/", {{"X y", "a"}}, "", false}), "|a header's name must be a token");
  EXPECT_EQ(Fetch({"GET", "/ HTTP/1.1\r\n", {}, "", false}),
            "|an HTTP target must begin with / and hold visible ASCII characters only");
  EXPECT_EQ(Fetch({"G T", "/", {}, "", false}), "|an HTTP method must be a token");
  EXPECT_EQ(server_.connections, 0);
}

TEST_F(HttpClientTest, NamesAndUnreachableServers) {
  MakeClient({}, "localhost");
  server_.replies = {{kOk}};
  EXPECT_EQ(Fetch(), "200 OK|ok|complete");
  MakeClient({}, "no-such-host.invalid");
  EXPECT_THAT(Fetch(), HasSubstr("|looking the name up: "));
  MakeClient({});
  server_.Stop();
  EXPECT_EQ(Fetch(), "|connecting: Connection refused");
}

TEST_F(HttpClientTest, ServesSeveralAtOnce) {
  server_.replies.assign(20, {kOk});
  std::vector<Heard> heard(20);
  for (Heard& one : heard) fetches_.push_back(client_->Start({}, Receiver(one), {}));
  for (Heard& one : heard) {
    Run(one.over);
    EXPECT_EQ(one.text, "200 OK|ok|complete");
  }
  EXPECT_EQ(client_->idle_connections(), HttpClientOptions{}.idle_connections_max);
}

TEST_F(HttpClientTest, CancelClosesAndIsSilent) {
  server_.replies = {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\none\r\n"},
                     {"<hang>"}};
  Heard heard;
  HttpResponseReceiver receiver = Receiver(heard);
  std::unique_ptr<HttpClient::Fetch> fetch;
  bool cancelled = false;
  receiver.on_body = [&](std::string_view) {
    fetch.reset();  // inside a callback
    cancelled = true;
  };
  fetch = client_->Start({}, std::move(receiver), {});
  Run(cancelled);
  Settle();
  EXPECT_EQ(heard.text, "200 OK|");
  EXPECT_EQ(server_.lost, 1);

  fetch = client_->Start({}, Receiver(heard), {});
  fetch.reset();  // before it began
  Settle();
  fetch = client_->Start({}, Receiver(heard), {});
  Settle();
  fetch.reset();  // while the server thinks
  Settle();
  EXPECT_EQ(heard.text, "200 OK|");
  EXPECT_EQ(server_.lost, 2);
}

TEST_F(HttpClientTest, TheEndMayDestroyTheClient) {
  server_.replies = {{kOk}};
  bool over = false;
  std::unique_ptr<HttpClient::Fetch> fetch;
  fetch = client_->Start({},
                         {[](const HttpResponseHead&) {}, [](std::string_view) {},
                          [&](const Status&) {
                            over = true;
                            fetch.reset();
                            client_.reset();
                          }},
                         {});
  Run(over);
  EXPECT_TRUE(over);
  Settle();
}

TEST_F(HttpClientTest, AnAnswerBeforeTheWholeRequestIsHeard) {
  server_.replies = {
      {"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "<close>"}};
  const std::string answer = Fetch({"POST", "/", {}, std::string(20u << 20, 'x'), false});
  // The kernel may throw the answer away together with the connection; then sending has failed.
  EXPECT_TRUE(answer == "413 Too Large||complete" || answer.starts_with("|sending: ")) << answer;
}

}  // namespace
}  // namespace glovebox

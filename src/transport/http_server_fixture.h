#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "transport/http_server.h"

namespace glovebox {

// A client that knows bytes only and never blocks: what cannot be sent yet is sent by a later Pump.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, const char* host = "127.0.0.1",
                     int receive_buffer_bytes = 0) {
    const boost::asio::ip::tcp::endpoint server(boost::asio::ip::make_address(host), port);
    fd_ = UniqueFd(::socket(server.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer_bytes > 0) {
      ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                   sizeof(receive_buffer_bytes));
    }
    connected = ::connect(fd_.get(), server.data(), static_cast<socklen_t>(server.size())) == 0;
    ::fcntl(fd_.get(), F_SETFL, ::fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
  }

  int fd() const { return fd_.get(); }
  void Send(std::string_view bytes) {
    unsent.append(bytes);
    Pump();
  }
  void EndSending() { ::shutdown(fd_.get(), SHUT_WR); }
  void Close() { fd_.reset(); }
  // As a process that dies with data unread: the server gets RST.
  void Reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    fd_.reset();
  }

  void Pump() {
    if (!fd_) return;
    if (!unsent.empty()) {
      const ssize_t count = ::send(fd_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
      if (count > 0) unsent.erase(0, static_cast<std::size_t>(count));
      if (count < 0 && errno != EAGAIN) unsent.clear();
    }
    std::array<char, 65536> buffer{};
    while (reading && !ended && !reset) {
      const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (count > 0) received.append(buffer.data(), static_cast<std::size_t>(count));
      if (count == 0) ended = true;
      if (count < 0 && errno != EAGAIN) reset = true;
      if (count < 0) break;
    }
  }

  // The status codes of what was received, in order.
  std::vector<int> statuses() const {
    std::vector<int> found;
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    for (std::size_t at = received.find(kVersion); at != std::string::npos;
         at = received.find(kVersion, at + 1)) {
      const std::string code = received.substr(at + kVersion.size(), 3);
      if (code.find_first_not_of("0123456789") == std::string::npos)
        found.push_back(std::stoi(code));
    }
    return found;
  }

  bool connected = false;
  std::string unsent;
  std::string received;
  bool reading = true;
  bool ended = false;  // the server has closed, properly
  bool reset = false;  // or broken off

 private:
  UniqueFd fd_;
};

// Answers "ok" to everything, unless the test says otherwise.
class ScriptedHandler : public HttpHandler {
 public:
  std::optional<HttpResponse> Screen(const HttpRequest& head) override {
    ++screened;
    return screen ? screen(head) : std::nullopt;
  }
  void Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    requests.push_back(request);
    if (handle) return handle(std::move(request), std::move(exchange));
    exchange->Respond({200, {}, "ok"});
  }

  std::function<std::optional<HttpResponse>(const HttpRequest&)> screen;
  std::function<void(HttpRequest, std::shared_ptr<HttpExchange>)> handle;
  std::vector<HttpRequest> requests;
  int screened = 0;
};

// A server and its clients on one thread: RunUntil turns the server's loop and pumps the clients.
class HttpServerTest : public testing::Test {
 protected:
  static constexpr std::string_view kGet = "GET /path?query HTTP/1.1\r\nHost: test\r\n\r\n";
  static constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  static std::string Post(std::string_view body) {
    return "POST /path HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
  }

  void Serve(HttpServerOptions options = {}) {
    auto listening = HttpServer::Listen(context_, handler_, std::move(options));
    ASSERT_TRUE(listening.ok()) << listening.error().message();
    server_ = std::move(listening).value();
  }

  RawClient& Connect(const char* host = "127.0.0.1", int receive_buffer_bytes = 0) {
    clients_.push_back(std::make_unique<RawClient>(server_->port(), host, receive_buffer_bytes));
    EXPECT_TRUE(clients_.back()->connected);
    return *clients_.back();
  }

  // The handler keeps exchanges instead of answering.
  void Hold() {
    handler_.handle = [this](const HttpRequest&, std::shared_ptr<HttpExchange> exchange) {
      held_.push_back(std::move(exchange));
    };
  }

  bool RunUntil(const std::function<bool()>& done,
                std::chrono::milliseconds time_max = std::chrono::milliseconds(5000)) {
    const auto deadline = std::chrono::steady_clock::now() + time_max;
    for (;;) {
      for (const auto& client : clients_) client->Pump();
      if (done()) return true;
      if (std::chrono::steady_clock::now() >= deadline) return false;
      context_.restart();
      context_.run_for(std::chrono::milliseconds(1));
    }
  }
  void RunFor(std::chrono::milliseconds time) {
    RunUntil([] { return false; }, time);
  }

  // Sends `bytes` on a connection of its own and gives what comes back until the server closes.
  std::string AnswerTo(std::string_view bytes) {
    RawClient& client = Connect();
    client.Send(bytes);
    EXPECT_TRUE(RunUntil([&] { return client.ended || client.reset; })) << client.received;
    EXPECT_FALSE(client.reset);
    return client.received;
  }

  static std::size_t OpenDescriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  boost::asio::io_context context_;
  ScriptedHandler handler_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::shared_ptr<HttpExchange>> held_;
  std::vector<std::unique_ptr<RawClient>> clients_;
};

}  // namespace glovebox

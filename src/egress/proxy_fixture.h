#pragma once

// For tests: a proxy in this process, with names of the test's own, and a client that sends bytes.

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include "egress/proxy_server.h"

namespace glovebox::egress {

// A TCP server at 127.0.0.1: keeps what each connection sends, answers HTTP after its first bytes.
class Witness {
 public:
  Witness() : acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}) {
    Accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() {
    context_.stop();
    thread_.join();
  }
  std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }
  std::uint16_t port_number() const { return acceptor_.local_endpoint().port(); }
  std::string seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  // Waits until what was sent ends so.
  bool SeesAtTheEnd(std::string_view text) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!seen().ends_with(text)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  int connections() const { return connections_; }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  struct Peer {
    explicit Peer(Socket accepted) : socket(std::move(accepted)) {}
    Socket socket;
    std::array<char, 4096> buffer;
  };
  void Accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, Socket socket) {
      if (error) return;
      ++connections_;
      Read(std::make_shared<Peer>(std::move(socket)), true);
      Accept();
    });
  }
  void Read(const std::shared_ptr<Peer>& peer, bool first) {
    peer->socket.async_read_some(
        boost::asio::buffer(peer->buffer),
        [this, peer, first](const boost::system::error_code& error, std::size_t got) {
          if (error) return;
          {
            const std::lock_guard lock(mutex_);
            seen_.append(peer->buffer.data(), got);
          }
          boost::system::error_code ignored;
          if (first) {
            boost::asio::write(peer->socket,
                               boost::asio::buffer(std::string(
                                   "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nWITNESS")),
                               ignored);
          }
          Read(peer, false);
        });
  }

  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  mutable std::mutex mutex_;
  std::string seen_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

// The answers of a resolver, in the order in which it is asked; the last one stays.
using Names = std::map<std::string, std::vector<std::vector<std::string>>>;

class TestProxy {
 public:
  TestProxy(SessionMeans means, Names names) : names_(std::move(names)) {
    namespace asio = boost::asio;
    means.resolve = [this](std::string name) -> asio::awaitable<Resolution> {
      co_return Answer(name);
    };
    means.report = [this](const ConnectionReport& report) {
      const std::lock_guard lock(mutex_);
      reports_.push_back(report);
    };
    asio::ip::tcp::acceptor acceptor(context_, {asio::ip::address_v4::loopback(), 0});
    acceptor.non_blocking(true);
    port_ = acceptor.local_endpoint().port();
    means.proxy_port = port_;
    server_ = std::make_unique<ProxyServer>(context_, std::move(means));
    server_->Serve(UniqueFd(acceptor.release()));
    thread_ = std::thread([this] { context_.run(); });
  }
  TestProxy(const TestProxy&) = delete;
  TestProxy& operator=(const TestProxy&) = delete;
  ~TestProxy() {
    context_.stop();
    thread_.join();
    server_ = nullptr;
  }

  // Sends `parts`, waiting for an answer before each but the first; returns all that came back
  // until the proxy closed, or was quiet for `quiet`.
  std::string Send(const std::vector<std::string>& parts,
                   std::chrono::milliseconds quiet = std::chrono::milliseconds(500)) {
    namespace asio = boost::asio;
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    socket.connect({asio::ip::address_v4::loopback(), port_});
    std::string received;
    Read read = Read::kBytes;
    for (const std::string& part : parts) {
      if (&part != &parts.front()) read = ReadSome(context, socket, received, quiet);
      boost::system::error_code ignored;
      asio::write(socket, asio::buffer(part), ignored);
      if (read == Read::kEnd) return received;
    }
    while (ReadSome(context, socket, received, quiet) == Read::kBytes) {
    }
    return received;
  }

  std::vector<ConnectionReport> reports() {
    const std::lock_guard lock(mutex_);
    return reports_;
  }
  int resolutions() const { return resolutions_; }

 private:
  enum class Read { kBytes, kNothing, kEnd };
  static Read ReadSome(boost::asio::io_context& context, boost::asio::ip::tcp::socket& socket,
                       std::string& received, std::chrono::milliseconds quiet) {
    std::array<char, 4096> buffer;
    Read read = Read::kNothing;
    boost::asio::steady_timer timer(context, quiet);
    timer.async_wait([&](const boost::system::error_code& error) {
      if (!error) socket.cancel();
    });
    socket.async_read_some(boost::asio::buffer(buffer),
                           [&](const boost::system::error_code& error, std::size_t got) {
                             timer.cancel();
                             received.append(buffer.data(), got);
                             if (!error) read = Read::kBytes;
                             if (error == boost::asio::error::eof) read = Read::kEnd;
                           });
    context.restart();
    context.run();
    return read;
  }

  Resolution Answer(const std::string& name) {
    ++resolutions_;
    Resolution resolution;
    const auto found = names_.find(name);
    if (found == names_.end() || found->second.empty()) {
      resolution.error = "the name " + name + " cannot be resolved";
      return resolution;
    }
    for (const std::string& text : found->second.front()) {
      resolution.addresses.push_back(Address(text));
    }
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    return resolution;
  }

  // Also those that IpAddress::Parse refuses, as a name server may send them.
  static policy::IpAddress Address(const std::string& text) {
    const auto parsed = boost::asio::ip::make_address(text);
    policy::IpAddress address;
    address.v4 = parsed.is_v4();
    if (address.v4) {
      const auto bytes = parsed.to_v4().to_bytes();
      std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
    } else {
      const auto bytes = parsed.to_v6().to_bytes();
      std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
    }
    return address;
  }

  boost::asio::io_context context_;
  std::unique_ptr<ProxyServer> server_;
  std::uint16_t port_ = 0;
  Names names_;
  std::mutex mutex_;
  std::vector<ConnectionReport> reports_;
  std::atomic<int> resolutions_ = 0;
  std::thread thread_;
};

}  // namespace glovebox::egress

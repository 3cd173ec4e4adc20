#pragma once

#include <memory>
#include <set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/unique_fd.h"
#include "egress/session.h"

namespace glovebox::egress {

inline constexpr std::size_t kSessionsMax = 128;

// Accepts what the box connects to and gives each connection a session. One thread: that of the
// io_context; only the resolver has others.
class ProxyServer {
 public:
  ProxyServer(boost::asio::io_context& context, SessionMeans means);
  ~ProxyServer();

  // A listening, non-blocking TCP socket.
  void Serve(UniqueFd listener);
  // Every session is reported as far as it came and ended; nothing is accepted any more.
  void Stop();

 private:
  using Acceptor = boost::asio::ip::tcp::acceptor;
  void Accept(Acceptor& acceptor);
  void Start(boost::asio::ip::tcp::socket client);

  boost::asio::io_context& context_;
  SessionMeans means_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::set<std::shared_ptr<Session>> sessions_;
};

}  // namespace glovebox::egress

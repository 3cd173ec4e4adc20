#include "egress/proxy_server.h"

#include <utility>

#include <boost/asio/co_spawn.hpp>

namespace glovebox::egress {

namespace asio = boost::asio;

ProxyServer::ProxyServer(asio::io_context& context, SessionMeans means)
    : context_(context), means_(std::move(means)) {}

ProxyServer::~ProxyServer() { Stop(); }

void ProxyServer::Serve(UniqueFd listener) {
  acceptors_.push_back(
      std::make_unique<Acceptor>(context_, asio::ip::tcp::v4(), listener.release()));
  Accept(*acceptors_.back());
}

void ProxyServer::Stop() {
  acceptors_.clear();
  for (const auto& session : std::exchange(sessions_, {})) session->Stop();
}

void ProxyServer::Accept(Acceptor& acceptor) {
  acceptor.async_accept(
      [this, &acceptor](const boost::system::error_code& error, asio::ip::tcp::socket client) {
        if (error == asio::error::operation_aborted) return;
        // At the limit it is closed at once: the box learns, and waits for nobody.
        if (!error && sessions_.size() < kSessionsMax) Start(std::move(client));
        Accept(acceptor);
      });
}

void ProxyServer::Start(asio::ip::tcp::socket client) {
  boost::system::error_code ignored;
  client.set_option(asio::ip::tcp::no_delay(true), ignored);
  auto session = std::make_shared<Session>(std::move(client), means_);
  sessions_.insert(session);
  // A session that throws (no memory) ends alone.
  asio::co_spawn(
      context_, [session] { return session->Run(); },
      [this, session](const std::exception_ptr& thrown) {
        if (thrown) session->Stop();
        sessions_.erase(session);
      });
}

}  // namespace glovebox::egress

#include "transport/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_map>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/unique_fd.h"
#include "transport/http_connection.h"

namespace glovebox {

using boost::asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

constexpr int kAcceptsPerTurn = 64;  // then the connections we have get their turn
constexpr milliseconds kAcceptRetry{100};
// Connections over the limit that are being told so; beyond them there is only a closed door.
constexpr std::size_t kRefusingMax = 256;
constexpr milliseconds kTickMin{5};
constexpr milliseconds kTickMax{500};

// How often deadlines are looked at: a time-out is late by an eighth of the shortest one at most.
milliseconds TickOf(const HttpServerOptions& options) {
  const milliseconds shortest = std::min({options.head_time_max, options.body_time_max,
                                          options.idle_time_max, options.write_time_max});
  return std::clamp(shortest / 8, kTickMin, kTickMax);
}

// The addresses to try, IPv4 first: "localhost" is 127.0.0.1 where there is one.
Result<std::vector<tcp::endpoint>> Resolve(boost::asio::io_context& context,
                                           const HttpServerOptions& options) {
  error_code error;
  const auto address = boost::asio::ip::make_address(options.host, error);
  if (!error) return std::vector{tcp::endpoint(address, options.port)};
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      tcp::resolver::numeric_service, error);
  if (error) {
    return Error(Errc::kSystem, "the host '" + options.host + "' to listen on: " + error.message());
  }
  std::vector<tcp::endpoint> endpoints(found.begin(), found.end());
  std::stable_partition(endpoints.begin(), endpoints.end(),
                        [](const tcp::endpoint& each) { return each.address().is_v4(); });
  return endpoints;
}

Result<UniqueFd> ListenOn(const tcp::endpoint& endpoint, const std::string& what) {
  UniqueFd fd(
      ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error::FromErrno(what, errno);
  const int on = 1;
  const int off = 0;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) {
    return Error::FromErrno(what, errno);
  }
  // "::" means every address, whatever the machine's default is.
  if (endpoint.address().is_v6() && endpoint.address().is_unspecified() &&
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0) {
    return Error::FromErrno(what, errno);
  }
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return Error::FromErrno(what, errno);
  }
  return fd;
}

// The address alone; an IPv4 client of a socket for both kinds looks like any other IPv4 client.
std::string PeerName(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

}  // namespace

// Accepts, counts and watches the clock. Every handler holds a reference, so that one in flight
// when the server is destroyed finds memory.
class HttpServer::Listener final : public HttpConnection::Owner,
                                   public std::enable_shared_from_this<Listener> {
 public:
  using Clock = HttpConnection::Clock;

  Listener(boost::asio::io_context& context, HttpHandler& handler, HttpServerOptions options)
      : acceptor_(context),
        retry_(context),
        tick_timer_(context),
        drain_timer_(context),
        handler_(handler),
        options_(std::move(options)),
        tick_(TickOf(options_)),
        now_(Clock::now()) {}
  virtual ~Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Status Open(boost::asio::io_context& context) {
    Error first(Errc::kSystem, "the host '" + options_.host + "' has no address");
    bool tried = false;
    for (const tcp::endpoint& endpoint : TRY(Resolve(context, options_))) {
      auto fd = ListenOn(endpoint, "listening on " + endpoint.address().to_string() + " port " +
                                       std::to_string(endpoint.port()));
      if (fd.ok()) {
        acceptor_.assign(endpoint.protocol(), std::move(fd).value().release());
        port_ = acceptor_.local_endpoint().port();
        return {};
      }
      if (!std::exchange(tried, true)) first = std::move(fd).error();
    }
    return first;
  }

  void Accept() {
    acceptor_.async_wait(Acceptor::wait_read, [self = shared_from_this()](const error_code& error) {
      if (!error && self->acceptor_.is_open()) self->AcceptWaiting();
    });
  }

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_.size() - refusing_; }

  void Drain(milliseconds time_max, std::function<void()> done) {
    CHECK(!draining_);
    draining_ = true;
    on_drained_ = std::move(done);
    StopAccepting();
    ForEach([](HttpConnection& connection) { connection.Drain(); });
    drain_timer_.expires_after(time_max);
    drain_timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (error) return;
      self->ForEach([](HttpConnection& connection) { connection.Disconnect(); });
    });
    boost::asio::post(acceptor_.get_executor(), [self = shared_from_this()] { self->EndDrain(); });
  }

  void Shutdown() {
    StopAccepting();
    tick_timer_.cancel();
    drain_timer_.cancel();
    on_drained_ = nullptr;
    for (const auto& [key, entry] : std::exchange(connections_, {})) entry.connection->Abandon();
  }

  // HttpConnection::Owner:
  HttpHandler& handler() override { return handler_; }
  const HttpServerOptions& options() const override { return options_; }
  Clock::time_point DeadlineIn(milliseconds time) const override { return now_ + time + tick_; }
  bool draining() const override { return draining_; }
  void OnConnectionClosed(HttpConnection& connection) override {
    const auto found = connections_.find(&connection);
    if (found == connections_.end()) return;
    // Beyond this call the coroutine's waker keeps the connection.
    if (found->second.refusing) {
      --refusing_;
    } else if (const auto peer = peers_.find(found->second.peer); --peer->second == 0) {
      peers_.erase(peer);
    }
    connections_.erase(found);
    if (draining_) EndDrain();
  }

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Acceptor = boost::asio::basic_socket_acceptor<tcp, Executor>;
  struct Entry {
    std::shared_ptr<HttpConnection> connection;
    std::string peer;
    bool refusing = false;
  };

  void StopAccepting() {
    error_code ignored;  // the descriptor is gone in any case
    acceptor_.close(ignored);
    retry_.cancel();
  }

  void AcceptWaiting() {
    for (int i = 0; i < kAcceptsPerTurn && acceptor_.is_open(); ++i) {
      tcp::endpoint peer;
      auto size = static_cast<socklen_t>(peer.capacity());
      UniqueFd fd(
          ::accept4(acceptor_.native_handle(), peer.data(), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd) {
        peer.resize(size);
        Take(std::move(fd), peer);
      } else if (errno == EAGAIN) {
        break;
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // The connection stays in the backlog, and would be reported again at once.
        return AcceptLater();
      }
      // Otherwise the client has gone already: on to the next one.
    }
    if (acceptor_.is_open()) Accept();
  }

  void AcceptLater() {
    retry_.expires_after(kAcceptRetry);
    retry_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error && self->acceptor_.is_open()) self->AcceptWaiting();
    });
  }

  void Take(UniqueFd fd, const tcp::endpoint& endpoint) {
    Entry entry{nullptr, PeerName(endpoint), false};
    const auto of_peer = peers_.find(entry.peer);
    entry.refusing =
        connections() >= options_.connections_max ||
        (of_peer != peers_.end() && of_peer->second >= options_.connections_per_peer_max);
    if (entry.refusing && refusing_ >= kRefusingMax) return;

    HttpConnection::Socket socket(acceptor_.get_executor());
    error_code error;
    socket.assign(endpoint.protocol(), fd.get(), error);
    if (error) return;
    static_cast<void>(fd.release());
    socket.non_blocking(true, error);
    socket.set_option(tcp::no_delay(true), error);  // a response is one write: nothing to wait for

    if (connections_.empty()) StartTicking();
    const auto connection = std::make_shared<HttpConnection>(std::move(socket), entry.peer, *this);
    if (entry.refusing) {
      ++refusing_;
    } else {
      ++peers_[entry.peer];
    }
    const bool refusing = entry.refusing;
    entry.connection = connection;
    connections_.emplace(connection.get(), std::move(entry));
    if (!refusing) return connection->Start();
    connection->StartRefusing(
        {503,
         {{"Retry-After", "1"}, {"Content-Type", "text/plain; charset=utf-8"}},
         "too many connections\n"});
  }

  // One timer for all connections, and none when there are none.
  void StartTicking() {
    now_ = Clock::now();
    tick_timer_.expires_after(tick_);
    tick_timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (error) return;
      self->now_ = Clock::now();
      self->ForEach([&](HttpConnection& connection) { connection.Tick(self->now_); });
      if (!self->connections_.empty()) self->StartTicking();
    });
  }

  // With references of its own: connections come and go meanwhile.
  template <typename Action>
  void ForEach(Action action) {
    std::vector<std::shared_ptr<HttpConnection>> all;
    all.reserve(connections_.size());
    for (const auto& [key, entry] : connections_) all.push_back(entry.connection);
    for (const auto& connection : all) action(*connection);
  }

  void EndDrain() {
    if (!connections_.empty() || !on_drained_) return;
    drain_timer_.cancel();
    boost::asio::post(acceptor_.get_executor(), std::exchange(on_drained_, nullptr));
  }

  Acceptor acceptor_;
  boost::asio::steady_timer retry_;
  boost::asio::steady_timer tick_timer_;
  boost::asio::steady_timer drain_timer_;
  HttpHandler& handler_;
  const HttpServerOptions options_;
  const milliseconds tick_;
  Clock::time_point now_;  // as of the last tick: exact enough, and free
  std::uint16_t port_ = 0;
  bool draining_ = false;
  std::function<void()> on_drained_;

  std::unordered_map<const HttpConnection*, Entry> connections_;
  std::size_t refusing_ = 0;
  std::unordered_map<std::string, std::size_t> peers_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(boost::asio::io_context& context,
                                                       HttpHandler& handler,
                                                       HttpServerOptions options) {
  auto listener = std::make_shared<Listener>(context, handler, std::move(options));
  TRY(listener->Open(context));
  listener->Accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(listener)));
}

HttpServer::HttpServer(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}
HttpServer::~HttpServer() { listener_->Shutdown(); }

std::uint16_t HttpServer::port() const { return listener_->port(); }
std::size_t HttpServer::connections() const { return listener_->connections(); }

void HttpServer::Drain(std::chrono::milliseconds time_max, std::function<void()> done) {
  listener_->Drain(time_max, std::move(done));
}

}  // namespace glovebox

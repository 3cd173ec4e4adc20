#include "egress/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "egress/client_hello.h"

namespace glovebox::egress {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::experimental::awaitable_operators::operator&&;
using policy::EgressAsk;
using policy::NetworkHost;

constexpr auto kQuietly = asio::as_tuple(asio::use_awaitable);  // errors are values
constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kDialsMax = 4;

asio::ip::address ToAsio(const policy::IpAddress& address) {
  if (address.v4) {
    asio::ip::address_v4::bytes_type bytes;
    std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
    return asio::ip::address_v4(bytes);
  }
  asio::ip::address_v6::bytes_type bytes;
  std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
  return asio::ip::address_v6(bytes);
}

EgressAsk AskOf(const RequestHead& head) {
  EgressAsk ask{head.host, head.port};
  if (head.method != "CONNECT") {
    ask.method = head.method;
    ask.path = head.path;
  }
  return ask;
}

}  // namespace

Session::Session(Socket client, const SessionMeans& means)
    : client_(std::move(client)),
      upstream_(client_.get_executor()),
      means_(means),
      timer_(client_.get_executor()) {}

asio::awaitable<void> Session::Run() {
  const auto self = shared_from_this();
  Within(means_.times.head);
  report_.asked_at_ns = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  boost::system::error_code error;
  const tcp::endpoint reached = client_.local_endpoint(error);
  if (!error && reached.port() == means_.proxy_port) {
    co_await RunProxied();
  } else if (!error) {
    co_await RunDirect(reached);
  }
  ReportOnce();
  Close();
}

void Session::Stop() {
  ReportOnce();
  Close();
}

void Session::Close() {
  boost::system::error_code ignored;
  timer_.cancel();
  client_.close(ignored);
  upstream_.close(ignored);
}

void Session::ReportOnce() {
  if (!asked_ || std::exchange(reported_, true)) return;
  if (timed_out_ && report_.reason.empty()) report_.reason = "nothing was sent for too long";
  means_.report(report_);
}

// --- doors ---------------------------------------------------------------------------------------

asio::awaitable<void> Session::RunProxied() {
  const bool first = co_await ReadMore();
  if (!first) co_return;
  asked_ = true;
  if (from_client_.front() == 5) {
    co_await RunSocks();
  } else {
    co_await RunHttp();
  }
}

asio::awaitable<void> Session::RunDirect(const tcp::endpoint& reached) {
  asked_ = true;
  report_.door = Door::kDirect;
  report_.port = reached.port();
  const auto host =
      std::find_if(means_.direct.begin(), means_.direct.end(), [&](const policy::DirectHost& one) {
        return reached.address().is_v4() && reached.address().to_v4().to_bytes() == one.address;
      });
  if (host == means_.direct.end()) {
    report_.host = reached.address().to_string();
    NoteRefusal("no host has this address in the box", {});
    co_return;
  }
  const EgressAsk ask{NetworkHost{host->name, std::nullopt}, reached.port()};
  report_.host = host->name;
  if (ask.port == means_.http_port) {
    co_await OriginHttp(ask);
  } else if (Judge(ask)) {
    co_await Tunnel(ask);
  }
}

asio::awaitable<void> Session::RunHttp() {
  HeadReading reading = ReadProxyHead(from_client_);
  while (reading.step == HeadReading::Step::kNeedMore) {
    const bool more = co_await ReadMore();
    if (!more) co_return;
    reading = ReadProxyHead(from_client_);
  }
  if (reading.step == HeadReading::Step::kRefused) {
    NoteRefusal("the request cannot be read in one way only: " + reading.reason, {});
    co_await SayHttp(400);
    co_return;
  }
  from_client_.erase(0, reading.bytes);
  report_.host = reading.head.host.Text();
  report_.port = reading.head.port;
  if (reading.head.method != "CONNECT") {
    co_await Exchange(std::move(reading.head));
    co_return;
  }
  report_.door = Door::kConnect;
  const EgressAsk ask = AskOf(reading.head);
  // On port 80 the requests inside are judged by what they say.
  if (ask.port == means_.http_port) {
    if (!IsNamed(ask)) {
      co_await SayHttp(403);
      co_return;
    }
  } else {
    if (!Judge(ask)) {
      co_await SayHttp(403);
      co_return;
    }
    const bool dialled = co_await Dial(ask);
    if (!dialled) {
      co_await SayHttp(report_.allowed ? 502 : 403);
      co_return;
    }
  }
  const bool told = co_await WriteClient("HTTP/1.1 200 Connection established\r\n\r\n");
  if (told) co_await Tunnel(ask);
}

asio::awaitable<void> Session::RunSocks() {
  report_.door = Door::kSocks;
  SocksGreeting greeting = ReadSocksGreeting(from_client_);
  while (greeting.step == SocksStep::kNeedMore) {
    const bool more = co_await ReadMore();
    if (!more) co_return;
    greeting = ReadSocksGreeting(from_client_);
  }
  if (greeting.step == SocksStep::kRefused) {
    NoteRefusal(greeting.reason, {});
    co_await WriteClient("\x05\xff");
    co_return;
  }
  from_client_.erase(0, greeting.bytes);
  const bool greeted = co_await WriteClient(std::string_view("\x05\x00", 2));
  if (!greeted) co_return;
  SocksRequest request = ReadSocksRequest(from_client_);
  while (request.step == SocksStep::kNeedMore) {
    const bool more = co_await ReadMore();
    if (!more) co_return;
    request = ReadSocksRequest(from_client_);
  }
  report_.port = request.port;
  if (request.step == SocksStep::kRefused) {
    report_.host = request.sent_host;
    NoteRefusal(request.reason, {});
    co_await WriteClient(WriteSocksReply(request.reply));
    co_return;
  }
  from_client_.erase(0, request.bytes);
  const EgressAsk ask{request.host, request.port};
  report_.host = ask.host.Text();
  bool through = ask.port == means_.http_port ? IsNamed(ask) : Judge(ask);
  if (through && ask.port != means_.http_port) through = co_await Dial(ask);
  if (!through) {
    const auto reply = report_.allowed ? SocksReply::kHostUnreachable : SocksReply::kNotAllowed;
    co_await WriteClient(WriteSocksReply(reply));
    co_return;
  }
  const bool told = co_await WriteClient(WriteSocksReply(SocksReply::kDone));
  if (told) co_await Tunnel(ask);
}

// --- tunnels -------------------------------------------------------------------------------------

asio::awaitable<void> Session::Tunnel(const EgressAsk& ask) {
  if (ask.port == means_.http_port) {
    co_await OriginHttp(ask);
  } else if (ask.port == means_.tls_port) {
    co_await TlsTunnel(ask);
  } else {
    co_await OpenTunnel(ask);
  }
}

// Nothing goes onwards before the greeting was read and names the host that was judged.
asio::awaitable<void> Session::TlsTunnel(const EgressAsk& ask) {
  Within(means_.times.head);
  const bool named = co_await AwaitHello(ask.host);
  if (!named) co_return;
  if (!upstream_.is_open()) {
    const bool dialled = co_await Dial(ask);
    if (!dialled) co_return;
  }
  Within(means_.times.idle);
  co_await (SendUp(false, ask.host) && SendDown());
}

// Any protocol, also one in which the server speaks first; if it is TLS, it must be with that host.
asio::awaitable<void> Session::OpenTunnel(const EgressAsk& ask) {
  if (!upstream_.is_open()) {
    const bool dialled = co_await Dial(ask);
    if (!dialled) co_return;
  }
  Within(means_.times.idle);
  co_await (SendUp(true, ask.host) && SendDown());
}

asio::awaitable<bool> Session::AwaitHello(const NetworkHost& host) {
  while (true) {
    const HelloReading reading = CheckClientHello(from_client_, host);
    if (reading.step == HelloReading::Step::kComplete) co_return true;
    if (reading.step == HelloReading::Step::kRefused) {
      NoteRefusal(reading.reason, {});
      co_return false;
    }
    const bool more = co_await ReadMore();
    if (!more) co_return false;
  }
}

asio::awaitable<void> Session::SendUp(bool sniff, const NetworkHost& host) {
  if (sniff && from_client_.empty()) {
    const bool more = co_await ReadMore();
    if (!more) {
      boost::system::error_code ignored;
      upstream_.shutdown(Socket::shutdown_send, ignored);
      co_return;
    }
  }
  if (sniff && from_client_.front() == 22) {
    const bool named = co_await AwaitHello(host);
    if (!named) {
      ReportOnce();
      Close();
      co_return;
    }
  }
  while (true) {
    const std::string bytes = std::exchange(from_client_, {});
    if (!bytes.empty()) {
      const bool sent = co_await WriteUpstream(bytes);
      if (!sent) break;
    }
    const bool more = co_await ReadMore();
    if (!more) break;
  }
  boost::system::error_code ignored;
  upstream_.shutdown(Socket::shutdown_send, ignored);
}

asio::awaitable<void> Session::SendDown() {
  std::array<char, kReadBytes> buffer;
  while (true) {
    const auto [error, got] = co_await upstream_.async_read_some(asio::buffer(buffer), kQuietly);
    if (error) break;
    KeepAlive();
    report_.bytes_received += got;
    const bool written = co_await WriteClient({buffer.data(), got});
    if (!written) break;
  }
  boost::system::error_code ignored;
  client_.shutdown(Socket::shutdown_send, ignored);
}

// --- judging and dialling ------------------------------------------------------------------------

bool Session::Judge(const EgressAsk& ask) {
  const policy::EgressVerdict verdict = means_.policy.Judge(ask);
  report_.allowed = verdict.allowed;
  report_.rule = verdict.rule;
  if (!verdict.allowed) NoteRefusal(verdict.reason, means_.policy.RemedyFor(ask.host, ask.port));
  return verdict.allowed;
}

bool Session::IsNamed(const EgressAsk& ask) {
  const auto& rules = means_.policy.rules;
  const bool named = std::any_of(rules.begin(), rules.end(), [&](const policy::EgressRule& rule) {
    return rule.AllowsHost(ask.host) && rule.AllowsPort(ask.port);
  });
  return named || Judge(ask);
}

asio::awaitable<bool> Session::Dial(const EgressAsk& ask) {
  Within(means_.times.dial);
  Resolution found;
  if (ask.host.address) {
    found.addresses.push_back(*ask.host.address);
  } else {
    found = co_await means_.resolve(ask.host.name);
  }
  if (found.addresses.empty()) {
    report_.reason = found.error;
    co_return false;
  }
  std::string why_not;
  std::string remedy;
  std::size_t tried = 0;
  for (const policy::IpAddress& address : found.addresses) {
    const policy::EgressVerdict verdict = means_.policy.JudgeAddress(ask, address);
    if (!verdict.allowed) {
      why_not = verdict.reason;
      remedy = means_.policy.RemedyFor(NetworkHost::Of(address), ask.port);
      continue;
    }
    if (++tried > kDialsMax) break;
    const bool connected = co_await DialOne(address, ask.port);
    if (connected) co_return true;
    if (timed_out_) break;
  }
  if (tried == 0) NoteRefusal(why_not, remedy);
  co_return false;
}

// The address that was judged, and no other look at the name.
asio::awaitable<bool> Session::DialOne(const policy::IpAddress& address, std::uint16_t port) {
  boost::system::error_code ignored;
  upstream_.close(ignored);
  const auto [error] =
      co_await upstream_.async_connect(tcp::endpoint(ToAsio(address), port), kQuietly);
  if (error) {
    report_.reason = "connecting to " + address.Text() + ": " + error.message();
    upstream_.close(ignored);
    co_return false;
  }
  upstream_.set_option(tcp::no_delay(true), ignored);
  report_.reason.clear();
  report_.address = address.Text();
  co_return true;
}

void Session::NoteRefusal(std::string reason, std::string remedy) {
  report_.allowed = false;
  report_.rule.clear();
  report_.reason = std::move(reason);
  report_.remedy = std::move(remedy);
}

// --- bytes and time ------------------------------------------------------------------------------

asio::awaitable<bool> Session::ReadMore() {
  const std::size_t before = from_client_.size();
  from_client_.resize(before + kReadBytes);
  const auto [error, got] = co_await client_.async_read_some(
      asio::buffer(from_client_.data() + before, kReadBytes), kQuietly);
  from_client_.resize(before + (error ? 0 : got));
  if (error) co_return false;
  KeepAlive();
  co_return true;
}

asio::awaitable<bool> Session::WriteClient(std::string_view bytes) {
  const auto [error, sent] =
      co_await asio::async_write(client_, asio::buffer(bytes.data(), bytes.size()), kQuietly);
  if (!error) KeepAlive();
  co_return !error;
}

asio::awaitable<bool> Session::WriteUpstream(std::string_view bytes) {
  const auto [error, sent] =
      co_await asio::async_write(upstream_, asio::buffer(bytes.data(), bytes.size()), kQuietly);
  report_.bytes_sent += sent;
  if (!error) KeepAlive();
  co_return !error;
}

void Session::Within(std::chrono::milliseconds time) {
  deadline_ = std::chrono::steady_clock::now() + time;
  idle_phase_ = time == means_.times.idle;
  ArmTimer();
}

// Only where bytes are relayed: a head that trickles in has one deadline for all of it.
void Session::KeepAlive() {
  if (idle_phase_) deadline_ = std::chrono::steady_clock::now() + means_.times.idle;
}

void Session::ArmTimer() {
  timer_.expires_at(deadline_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || self == nullptr) return;
    if (std::chrono::steady_clock::now() < self->deadline_) return self->ArmTimer();
    self->timed_out_ = true;
    self->Stop();
  });
}

}  // namespace glovebox::egress

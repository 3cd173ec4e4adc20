// The part of a session that speaks plain HTTP: one request, its body, one response.

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"
#include "egress/chunk_reader.h"
#include "egress/response_head.h"
#include "egress/session.h"

namespace glovebox::egress {
namespace {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator&&;
using policy::EgressAsk;

constexpr auto kQuietly = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kLingerBytesMax = 256 * 1024;
constexpr auto kLingerTime = std::chrono::seconds(2);

const char* StatusText(int status) {
  switch (status) {
    case 400: return "400 Bad Request";
    case 403: return "403 Forbidden";
    default: return "502 Bad Gateway";
  }
}

std::string RefusalBody(const ConnectionReport& report, int status) {
  std::string text = "glovebox egress: ";
  const std::string place = report.host + ":" + std::to_string(report.port);
  switch (status) {
    case 400: return text + "the request was refused: " + report.reason + "\n";
    case 403: text += place + " was refused: " + report.reason + "\n"; break;
    default: return text + place + " is allowed, but could not be reached: " + report.reason + "\n";
  }
  if (!report.remedy.empty()) text += "whoever runs this box can allow it: " + report.remedy + "\n";
  return text;
}

}  // namespace

asio::awaitable<void> Session::SayHttp(int status) {
  const std::string body = RefusalBody(report_, status);
  const std::string head = std::string("HTTP/1.1 ") + StatusText(status) +
                           "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
                           std::to_string(body.size()) +
                           "\r\nX-Glovebox-Egress: refused\r\nConnection: close\r\n\r\n";
  ReportOnce();  // whoever reads the answer finds the event
  const bool told = co_await WriteClient(head + body);
  if (told) co_await Linger();
}

// What is unread when a socket closes makes the kernel reset it, and the client would not see why.
asio::awaitable<void> Session::Linger() {
  boost::system::error_code ignored;
  client_.shutdown(Socket::shutdown_send, ignored);
  Within(kLingerTime);
  ReportOnce();
  for (std::size_t read = 0; read < kLingerBytesMax; read += from_client_.size()) {
    from_client_.clear();
    const bool more = co_await ReadMore();
    if (!more) break;
  }
}

// Where the host is known before the request: what comes must be a request to that very host.
asio::awaitable<void> Session::OriginHttp(const EgressAsk& ask) {
  Within(means_.times.head);
  HeadReading reading = ReadOriginHead(from_client_, ask.host, ask.port);
  while (reading.step == HeadReading::Step::kNeedMore) {
    const bool more = co_await ReadMore();
    if (!more) co_return;
    reading = ReadOriginHead(from_client_, ask.host, ask.port);
  }
  if (reading.step == HeadReading::Step::kRefused) {
    NoteRefusal("what is sent to port 80 must be HTTP to that host: " + reading.reason, {});
    co_await SayHttp(400);
    co_return;
  }
  from_client_.erase(0, reading.bytes);
  co_await Exchange(std::move(reading.head));
}

asio::awaitable<void> Session::Exchange(RequestHead head) {
  const EgressAsk ask{head.host, head.port, head.method, head.path};
  if (!Judge(ask)) {
    co_await SayHttp(403);
    co_return;
  }
  const bool dialled = co_await Dial(ask);
  if (!dialled) {
    co_await SayHttp(report_.allowed ? 502 : 403);
    co_return;
  }
  Within(means_.times.idle);
  const bool sent = co_await WriteUpstream(WriteHead(head));
  if (!sent) co_return;
  const bool without_body = head.method == "HEAD";
  // Both at once: a server may answer before it has the whole body, or ask for it.
  const bool answered = co_await (SendBody(std::move(head)) && RelayResponse(without_body));
  if (answered) {
    co_await Linger();
  } else if (!report_.reason.empty()) {
    co_await SayHttp(502);
  }
}

// Exactly the bytes of this request's body; what a client sends after them goes nowhere.
asio::awaitable<void> Session::SendBody(RequestHead head) {
  std::uint64_t left = head.body == BodyKind::kLength ? head.length : 0;
  ChunkReader chunks;
  while (!response_over_ && (head.body == BodyKind::kChunked ? !chunks.done() : left > 0)) {
    if (from_client_.empty()) {
      const bool more = co_await ReadMore();
      if (!more) co_return EndHalfRequest();
    }
    std::string out;
    if (head.body == BodyKind::kChunked) {
      from_client_.erase(0, chunks.Take(from_client_, out));
      if (chunks.failed()) {
        NoteRefusal("the request's chunks cannot be read in one way only", {});
        co_return Stop();
      }
      if (out.empty() && !chunks.done()) {
        const bool more = co_await ReadMore();
        if (!more) co_return EndHalfRequest();
        continue;
      }
    } else {
      out = from_client_.substr(
          0, static_cast<std::size_t>(std::min<std::uint64_t>(left, from_client_.size())));
      from_client_.erase(0, out.size());
      left -= out.size();
    }
    const bool sent = co_await WriteUpstream(out);
    if (!sent) co_return;
  }
}

// Half a request must not look like a whole one; unless it was answered, and nobody waits for it.
void Session::EndHalfRequest() {
  if (response_over_) return;
  if (report_.reason.empty()) report_.reason = "the client left before its request was whole";
  Close();
}

asio::awaitable<bool> Session::RelayResponse(bool without_body) {
  const bool answered = co_await RelayHeadAndBody(without_body);
  // What is left of the request's body has nowhere to go, and one alone reads from the client.
  response_over_ = true;
  boost::system::error_code ignored;
  client_.cancel(ignored);
  upstream_.close(ignored);
  co_return answered;
}

asio::awaitable<bool> Session::RelayHeadAndBody(bool without_body) {
  std::string received;
  std::optional<std::uint64_t> left;  // unknown: until the server closes
  bool in_body = false;
  std::array<char, kReadBytes> buffer;
  while (!left || *left > 0 || !in_body) {
    const auto [error, got] = co_await upstream_.async_read_some(asio::buffer(buffer), kQuietly);
    if (error) break;
    KeepAlive();
    report_.bytes_received += got;
    received.append(buffer.data(), got);
    while (!in_body) {
      const ResponseHead head = ReadResponseHead(received, without_body);
      if (head.step == ResponseHead::Step::kNeedMore) break;
      if (head.step == ResponseHead::Step::kRefused) {
        report_.reason = "the server's answer is not HTTP/1";
        co_return false;
      }
      const bool written = co_await WriteClient(head.text);
      if (!written) co_return false;
      received.erase(0, head.bytes);
      in_body = !head.interim;
      left = head.body_bytes;
    }
    if (!in_body) continue;
    if (left && received.size() > *left) received.resize(static_cast<std::size_t>(*left));
    if (left) *left -= received.size();
    const std::string bytes = std::exchange(received, {});
    if (bytes.empty()) continue;
    const bool written = co_await WriteClient(bytes);
    if (!written) co_return false;
  }
  if (!in_body && report_.reason.empty()) {
    report_.reason = "the server closed the connection without an answer";
  }
  co_return in_body;
}

}  // namespace glovebox::egress

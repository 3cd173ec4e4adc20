#include "transport/http_client.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <list>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace glovebox {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Parser = http::response_parser<http::buffer_body>;

constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;
constexpr int kInterimResponsesMax = 8;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

bool IsToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  const auto is_token_char = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

// Whatever would let a value end its line, or a target its request line.
Status CheckRequest(const HttpClientRequest& request) {
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!IsToken(request.method)) {
    return Error(Errc::kInvalidArgument, "an HTTP method must be a token");
  }
  if (!request.target.starts_with('/') ||
      !std::all_of(request.target.begin(), request.target.end(), is_visible)) {
    return Error(Errc::kInvalidArgument,
                 "an HTTP target must begin with / and hold visible ASCII characters only");
  }
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
  };
  for (const auto& [name, value] : request.headers) {
    if (!IsToken(name)) return Error(Errc::kInvalidArgument, "a header's name must be a token");
    if (std::any_of(value.begin(), value.end(), is_control)) {
      return Error(Errc::kInvalidArgument,
                   "the header " + name + " must not hold control characters");
    }
  }
  return {};
}

Error ToError(const error_code& error, std::string_view act) {
  const std::string while_acting = std::string(act) + ": ";
  if (error == http::error::header_limit) {
    return Error(Errc::kLimit, while_acting + "the response's head is too large");
  }
  if (error == http::error::end_of_stream || error == asio::error::eof) {
    return Error(Errc::kSystem, while_acting + "the server closed the connection");
  }
  if (error == http::error::partial_message) {
    return Error(Errc::kSystem, while_acting + "the server closed the connection too early");
  }
  if (error == beast::error::timeout)
    return Error(Errc::kSystem, while_acting + "no reply in time");
  static const auto& http_category = make_error_code(http::error::bad_version).category();
  if (error.category() == http_category) {
    return Error(Errc::kInvalidArgument, while_acting + "not HTTP: " + error.message());
  }
  return Error(Errc::kSystem, while_acting + error.message());
}

// How long the server says it keeps the connection: `Keep-Alive: timeout=5`. A second less, for the
// way there.
std::chrono::milliseconds KeepTime(const HttpResponseHead& head, std::chrono::milliseconds most) {
  const auto header = head.Header("Keep-Alive");
  constexpr std::string_view kTimeout = "timeout=";
  const std::size_t at = header ? header->find(kTimeout) : std::string_view::npos;
  if (at == std::string_view::npos) return most;
  const std::string_view digits = header->substr(at + kTimeout.size());
  unsigned seconds = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), seconds).ec != std::errc()) {
    return most;
  }
  return std::min<std::chrono::milliseconds>(most, std::chrono::seconds(std::max(seconds, 1u) - 1));
}

}  // namespace

std::optional<std::string_view> HttpResponseHead::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (beast::iequals(key, name)) return value;
  }
  return std::nullopt;
}

// The connections that wait for the next request.
class HttpClient::Pool {
 public:
  Pool(asio::io_context& context, HttpUrl server, HttpClientOptions options)
      : context_(context), server_(std::move(server)), options_(options) {}

  asio::io_context& context() { return context_; }
  const HttpUrl& server() const { return server_; }
  const HttpClientOptions& options() const { return options_; }
  std::size_t size() const { return idle_.size(); }

  std::optional<beast::tcp_stream> Take() {
    while (!idle_.empty()) {
      Idle newest = std::move(idle_.back());
      idle_.pop_back();
      if (Clock::now() < newest.until && IsQuiet(newest.stream)) return std::move(newest.stream);
    }
    return std::nullopt;
  }

  void Give(beast::tcp_stream stream, std::chrono::milliseconds keep) {
    const auto now = Clock::now();
    std::erase_if(idle_, [now](const Idle& idle) { return idle.until <= now; });
    if (keep.count() <= 0 || options_.idle_connections_max == 0) return;
    if (idle_.size() >= options_.idle_connections_max) idle_.pop_front();
    stream.expires_never();
    idle_.push_back({std::move(stream), now + keep});
  }

 private:
  struct Idle {
    beast::tcp_stream stream;
    Clock::time_point until;
  };

  // Nothing to read: a server that closed, or spoke without being asked, is of no use any more.
  static bool IsQuiet(beast::tcp_stream& stream) {
    char byte = 0;
    const ssize_t count =
        ::recv(stream.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  asio::io_context& context_;
  const HttpUrl server_;
  const HttpClientOptions options_;
  std::list<Idle> idle_;  // the one that waits longest first
};

// One request from its connection to the end of its response. The coroutine owns it, too.
class HttpClient::Fetch::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<Pool> pool, HttpClientRequest request, HttpResponseReceiver receiver,
      Patience patience)
      : pool_(std::move(pool)),
        resolver_(pool_->context()),
        request_(std::move(request)),
        receiver_(std::move(receiver)),
        patience_(patience) {}

  static asio::awaitable<void> Go(std::shared_ptr<Run> self) {
    Status end;
    try {
      end = CheckRequest(self->request_);
      if (end.ok()) end = co_await self->Talk();
    } catch (const std::exception& exception) {
      end = Error(Errc::kInternal, std::string("HTTP client: ") + exception.what());
    }
    if (self->cancelled_) co_return;
    if (!end.ok()) end = std::move(end).error().Within(self->pool_->server().authority());
    self->receiver_.on_end(end);
  }

  // The receiver's functions stay until the coroutine has noticed: one of them may be calling.
  void Cancel() {
    cancelled_ = true;
    resolver_.cancel();
    if (stream_) stream_->close();
  }

 private:
  asio::awaitable<Status> Talk() {
    if (auto kept = pool_->Take()) {
      stream_.emplace(std::move(*kept));
      Status end = co_await Exchange();
      if (end.ok() || heard_ || cancelled_ || !request_.repeatable) co_return end;
      stream_.reset();
    }
    Status connected = co_await Connect();
    if (!connected.ok()) co_return connected;
    Status end = co_await Exchange();
    co_return end;
  }

  asio::awaitable<Status> Connect() {
    const auto deadline = Clock::now() + pool_->options().connect_time_max;
    const HttpUrl& server = pool_->server();
    std::vector<tcp::endpoint> endpoints;
    error_code not_literal;
    const auto address = asio::ip::make_address(server.host, not_literal);
    if (!not_literal) {
      endpoints.emplace_back(address, server.port);
    } else {
      asio::steady_timer timer(pool_->context(), deadline);
      timer.async_wait([self = shared_from_this()](const error_code& cancelled) {
        if (!cancelled) self->resolver_.cancel();
      });
      auto [error, found] =
          co_await resolver_.async_resolve(server.host, std::to_string(server.port), kTuple);
      timer.cancel();
      if (error) co_return ToError(error, "looking the name up");
      for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    }
    if (cancelled_) co_return Error(Errc::kSystem, "cancelled");
    stream_.emplace(pool_->context());
    stream_->expires_at(deadline);
    auto [error, endpoint] = co_await stream_->async_connect(endpoints, kTuple);
    if (error) co_return ToError(error, "connecting");
    error_code ignored;
    stream_->socket().set_option(tcp::no_delay(true), ignored);
    co_return Status();
  }

  asio::awaitable<Status> Exchange() {
    heard_ = false;
    http::request<http::string_body> message;
    message.version(11);
    message.method_string(request_.method);
    message.target(request_.target);
    message.set(http::field::host, pool_->server().authority());
    for (const auto& [name, value] : request_.headers) message.insert(name, value);
    message.body() = request_.body;
    message.prepare_payload();
    stream_->expires_after(pool_->options().write_time_max);
    auto [write_error, written] = co_await http::async_write(*stream_, message, kTuple);
    if (cancelled_) co_return Error(Errc::kSystem, "cancelled");
    // A server may refuse a request without reading all of it: its answer may be there.
    if (write_error == beast::error::timeout) co_return ToError(write_error, "sending");

    beast::flat_buffer buffer(pool_->options().head_bytes_max + kPieceBytes);
    std::optional<Parser> parser;
    const error_code read_error = co_await ReadHead(buffer, parser);
    if (read_error || cancelled_) {
      if (write_error) co_return ToError(write_error, "sending");
      co_return ToError(read_error, "waiting for the response");
    }
    const HttpResponseHead head = HeadOf(*parser);
    if (head.status == 101)
      co_return Error(Errc::kInvalidArgument, "the server switched protocols");
    receiver_.on_head(head);
    const error_code body_error = co_await ReadBody(buffer, *parser);
    if (body_error) co_return ToError(body_error, "reading the response");
    if (cancelled_) co_return Status();
    if (parser->keep_alive() && buffer.size() == 0 && !write_error) {
      pool_->Give(std::move(*stream_), KeepTime(head, pool_->options().idle_time_max));
    }
    stream_.reset();
    co_return Status();
  }

  // Past interim responses (100, 103), a few of them.
  asio::awaitable<error_code> ReadHead(beast::flat_buffer& buffer, std::optional<Parser>& parser) {
    SetPatience(patience_.head_time_max);
    for (int responses = 0; responses <= kInterimResponsesMax; ++responses) {
      parser.emplace();
      parser->header_limit(static_cast<std::uint32_t>(pool_->options().head_bytes_max));
      parser->body_limit(boost::none);
      if (request_.method == "HEAD") parser->skip(true);
      auto [error, count] = co_await http::async_read_header(*stream_, buffer, *parser, kTuple);
      heard_ = heard_ || parser->got_some();
      if (error || cancelled_) co_return error;
      const unsigned status = parser->get().result_int();
      if (status / 100 != 1 || status == 101) co_return error_code();
    }
    co_return error_code(http::error::header_limit);
  }

  asio::awaitable<error_code> ReadBody(beast::flat_buffer& buffer, Parser& parser) {
    std::vector<char> piece(kPieceBytes);
    while (!parser.is_done() && !cancelled_) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      SetPatience(patience_.silence_max);
      auto [error, count] = co_await http::async_read_some(*stream_, buffer, parser, kTuple);
      if (cancelled_) break;
      const std::size_t length = piece.size() - parser.get().body().size;
      if (length > 0) receiver_.on_body(std::string_view(piece.data(), length));
      if (error && error != http::error::need_buffer) co_return error;
    }
    co_return error_code();
  }

  void SetPatience(std::chrono::milliseconds time) {
    if (time.count() > 0) {
      stream_->expires_after(time);
    } else {
      stream_->expires_never();
    }
  }

  static HttpResponseHead HeadOf(const Parser& parser) {
    HttpResponseHead head;
    head.status = parser.get().result_int();
    head.reason = std::string(parser.get().reason());
    for (const auto& field : parser.get()) {
      head.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    return head;
  }

  const std::shared_ptr<Pool> pool_;
  tcp::resolver resolver_;
  std::optional<beast::tcp_stream> stream_;
  const HttpClientRequest request_;
  const HttpResponseReceiver receiver_;
  const Patience patience_;
  bool heard_ = false;  // something of a response has arrived on this connection
  bool cancelled_ = false;
};

HttpClient::HttpClient(asio::io_context& context, HttpUrl server, HttpClientOptions options)
    : pool_(std::make_shared<Pool>(context, std::move(server), options)) {}
HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Fetch> HttpClient::Start(HttpClientRequest request,
                                                     HttpResponseReceiver receiver,
                                                     Patience patience) {
  auto run = std::make_shared<Fetch::Run>(pool_, std::move(request), std::move(receiver), patience);
  // co_spawn begins at once in the caller's turn when it is on the context's thread; the first
  // thing heard must come later.
  asio::post(pool_->context(), [run, &context = pool_->context()] {
    asio::co_spawn(context, Fetch::Run::Go(run), asio::detached);
  });
  return std::unique_ptr<Fetch>(new Fetch(std::move(run)));
}

const HttpUrl& HttpClient::server() const { return pool_->server(); }
std::size_t HttpClient::idle_connections() const { return pool_->size(); }

HttpClient::Fetch::Fetch(std::shared_ptr<Run> run) : run_(std::move(run)) {}
HttpClient::Fetch::~Fetch() { run_->Cancel(); }

}  // namespace glovebox

#include "mcp/http_client_channel.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "mcp/client_results.h"
#include "mcp/header_mirror.h"
#include "mcp/http_answer_reader.h"
#include "mcp/json_writer.h"
#include "mcp/modern_names.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr milliseconds kPostTimeMax{30'000};
constexpr std::size_t kPostAnswerBytesMax = 64u << 10;
// After the answer a server should end its stream. If it does, the connection can be used again.
constexpr milliseconds kStreamEndMax{1000};
constexpr std::size_t kSessionBytesMax = 1024;

bool IsVisibleAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// The revision a request's envelope claims; empty when it has none.
std::string_view ClaimedVersion(const json::object& params) {
  const json::value* meta = params.if_contains("_meta");
  if (meta == nullptr || !meta->is_object()) return {};
  const json::value* version = meta->get_object().if_contains(kVersionKey);
  if (version == nullptr || !version->is_string()) return {};
  return version->get_string();
}

// Whether doing it twice does no harm.
bool IsRepeatable(std::string_view method) {
  return method != "tools/call" && method != "tasks/update";
}

class HttpChannel final : public ClientChannel {
 public:
  HttpChannel(boost::asio::io_context& context, HttpUrl url, HttpClientChannelOptions options)
      : context_(context),
        options_(std::move(options)),
        target_(url.target),
        http_(context, std::move(url), options_.http),
        farewell_(context) {}

  void Start(Receiver& receiver) override { receiver_ = &receiver; }

  void Ask(OutgoingRequest request) override {
    HttpHeaders headers = Headers();
    if (const auto version = ClaimedVersion(request.params); !version.empty()) {
      for (auto& header : MirroredHeaders(version, request.method, request.params)) {
        headers.push_back(std::move(header));
      }
      for (auto& header : request.param_headers) headers.push_back(std::move(header));
    } else {
      AddSession(headers);
    }
    const auto exchange = std::make_shared<Exchange>(context_, options_.limits, request.id);
    exchange->method = request.method;
    exchange->in_session = !session_.empty();
    exchanges_[request.id] = exchange;
    HttpClientRequest post = {
        "POST", target_, std::move(headers), {}, IsRepeatable(request.method)};
    post.body = WriteJson(RequestMessage(request.id, request.method, std::move(request.params)));
    Run(exchange, std::move(post));
  }

  void Forget(std::int64_t id) override {
    const auto found = exchanges_.find(id);
    if (found != exchanges_.end()) Drop(*std::exchange(found->second, nullptr));
  }

  bool closing_cancels() const override { return version_ && IsModern(*version_); }

  void Notify(std::string_view method, json::object params, std::function<void()> sent) override {
    HttpHeaders headers = Headers();
    if (closing_cancels()) {
      for (auto& header : MirroredHeaders(VersionName(*version_), method, params)) {
        headers.push_back(std::move(header));
      }
    } else {
      AddSession(headers);
    }
    // The server's own stream may begin when it knows that we are ready.
    if (method == "notifications/initialized") {
      sent = [this, sent = std::move(sent)] {
        const std::weak_ptr alive(alive_);
        if (sent) sent();
        if (!alive.expired()) Listen();
      };
    }
    Post(std::string(method), std::move(headers),
         WriteJson(NotificationMessage(method, std::move(params))), std::move(sent));
  }

  void Answer(json::object message) override {
    HttpHeaders headers = Headers();
    AddSession(headers);
    Post("the answer to the server's question", std::move(headers), WriteJson(message), nullptr);
  }

  void Adopt(ProtocolVersion version) override { version_ = version; }
  bool mirrors_parameters() const override { return closing_cancels(); }

  bool Restart() override {
    session_.clear();
    version_.reset();
    if (const auto listening = std::exchange(listening_, nullptr)) Drop(*listening);
    return true;
  }

  void Close() override {
    if (closing_) return;
    closing_ = true;
    while (!exchanges_.empty()) Drop(*std::exchange(exchanges_.begin()->second, nullptr));
    if (const auto listening = std::exchange(listening_, nullptr)) Drop(*listening);
    posts_.clear();
    if (session_.empty()) {
      boost::asio::post(context_, [this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) EndFarewell();
      });
      return;
    }
    HttpHeaders headers = Headers();
    AddSession(headers);
    // Whatever comes of it: a server may not allow it (405), or be gone.
    last_word_ = http_.Start({"DELETE", target_, std::move(headers), {}, true},
                             {[](const HttpResponseHead&) {}, [](std::string_view) {},
                              [this](const Status&) { EndFarewell(); }},
                             {options_.farewell_max, options_.farewell_max});
    farewell_.expires_after(options_.farewell_max);
    farewell_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& cancelled) {
      if (!cancelled && !alive.expired()) EndFarewell();
    });
  }

 private:
  // A request and what is heard of it; or, with id 0, the server's own stream (legacy era).
  struct Exchange : std::enable_shared_from_this<Exchange> {
    Exchange(boost::asio::io_context& context, const ParseLimits& limits, std::int64_t number)
        : id(number), reader(limits), timer(context) {}

    const std::int64_t id;
    std::string method;
    bool in_session = false;  // it was sent with a session's id
    HttpAnswerReader reader;
    std::optional<Error> refused;  // why the response holds no messages
    bool answered = false;
    bool dropped = false;  // nobody wants to hear of it
    int attempts = 0;      // to resume it, since the last event
    boost::asio::steady_timer timer;
    std::unique_ptr<HttpClient::Fetch> fetch;
  };
  struct OutgoingPost {
    std::string what;
    std::function<void()> sent;
    std::optional<Error> refused;
    std::size_t bytes = 0;
    std::unique_ptr<HttpClient::Fetch> fetch;
  };

  HttpHeaders Headers() const {
    HttpHeaders headers = {{"Content-Type", "application/json"},
                           {"Accept", "application/json, text/event-stream"}};
    if (!options_.bearer_token.empty()) {
      headers.emplace_back("Authorization", "Bearer " + options_.bearer_token);
    }
    headers.insert(headers.end(), options_.headers.begin(), options_.headers.end());
    return headers;
  }
  void AddSession(HttpHeaders& headers) const {
    if (!session_.empty()) headers.emplace_back("Mcp-Session-Id", session_);
    if (version_ && *version_ >= ProtocolVersion::k2025_06_18) {
      headers.emplace_back("MCP-Protocol-Version", VersionName(*version_));
    }
  }

  // The fetch holds the functions, the exchange the fetch: so the functions hold it weakly.
  void Run(const std::shared_ptr<Exchange>& exchange, HttpClientRequest request) {
    exchange->refused.reset();
    const std::weak_ptr weak(exchange);
    exchange->fetch = http_.Start(std::move(request),
                                  {[this, weak](const HttpResponseHead& head) {
                                     if (const auto self = weak.lock()) OnHead(*self, head);
                                   },
                                   [this, weak](std::string_view piece) {
                                     if (const auto self = weak.lock()) OnBody(*self, piece);
                                   },
                                   [this, weak](const Status& end) {
                                     if (const auto self = weak.lock()) OnEnd(self, end);
                                   }},
                                  {});
  }

  void OnHead(Exchange& exchange, const HttpResponseHead& head) {
    if (exchange.method == "initialize") {
      const std::string_view session = head.Header("Mcp-Session-Id").value_or("");
      if (session.size() > kSessionBytesMax || !IsVisibleAscii(session)) {
        return Fail(exchange,
                    {Error(Errc::kInvalidArgument,
                           "the server's session id is not visible ASCII of 1024 bytes at most"),
                     head.status});
      }
      session_ = session;
    }
    const Status begun = exchange.reader.Begin(head);
    if (begun.ok()) return;
    exchange.refused = begun.error();
    if (head.status / 100 == 2) Fail(exchange, {begun.error(), head.status});
  }

  void OnBody(Exchange& exchange, std::string_view piece) {
    const std::weak_ptr alive(alive_);
    const Status read = exchange.reader.Append(
        piece, [&](Message message) { return Take(exchange, std::move(message)); });
    if (alive.expired() || exchange.dropped) return;
    if (!read.ok()) return Fail(exchange, {read.error(), exchange.reader.status()});
    if (exchange.reader.has_enough()) Refuse(exchange);
  }

  void OnEnd(const std::shared_ptr<Exchange>& exchange, const Status& end) {
    const std::weak_ptr alive(alive_);
    if (end.ok() && !exchange->refused) {
      exchange->reader.Finish([&](Message message) { return Take(*exchange, std::move(message)); });
    }
    if (alive.expired() || exchange->dropped) return;
    if (exchange->answered) return Drop(*exchange);
    if (exchange->refused && end.ok()) return Refuse(*exchange);
    if (exchange->reader.is_stream() && MayResume(*exchange)) return Resume(exchange);
    if (!end.ok()) return Fail(*exchange, {end.error(), exchange->reader.status()});
    Fail(*exchange, {Error(Errc::kInvalidArgument, "the server's response holds no answer"),
                     exchange->reader.status()});
  }

  // False when the exchange, or the channel, is not to be used any more.
  bool Take(Exchange& exchange, Message message) {
    const std::weak_ptr alive(alive_);
    if (const auto* response = std::get_if<Response>(&message)) {
      if (response->id == RequestId(exchange.id)) {
        exchange.answered = true;
        DropAfter(exchange, kStreamEndMax);
      }
    } else if (const auto* invalid = std::get_if<InvalidMessage>(&message)) {
      if (!exchange.reader.is_stream() && !invalid->id) {
        Fail(exchange, {Error(Errc::kInvalidArgument,
                              "the server's answer is no message: " + invalid->error.message),
                        exchange.reader.status()});
        return false;
      }
    }
    receiver_->OnMessage(std::move(message));
    return !alive.expired() && !exchange.dropped;
  }

  // A response that is no success: an error answer, a session that ended, or a failure.
  void Refuse(Exchange& exchange) {
    const unsigned status = exchange.reader.status();
    if (status == 404 && exchange.in_session) {
      return Fail(exchange,
                  {Error(Errc::kSystem, "the server has forgotten the session"), status, true});
    }
    auto answer = exchange.reader.error_answer();
    if (answer && exchange.id != 0 && status != 401 && status != 403) {
      const std::int64_t id = exchange.id;
      Drop(exchange);
      return receiver_->OnMessage(Response{id, std::move(*answer)});
    }
    const std::string& body = exchange.reader.error_body();
    const std::string text =
        exchange.refused->message() + (body.empty() ? "" : ": " + Quoted(body));
    Fail(exchange, {Error(exchange.refused->code(), text), status});
  }

  void Fail(Exchange& exchange, const Failure& failure) {
    const std::int64_t id = exchange.id;
    const auto listening = exchange.id == 0 ? std::exchange(listening_, nullptr) : nullptr;
    Drop(exchange);
    // A server need not have a stream of its own.
    if (id != 0) receiver_->OnNoAnswer(id, failure);
  }

  // May destroy the exchange.
  void Drop(Exchange& exchange) {
    exchange.dropped = true;
    exchange.timer.cancel();
    exchange.fetch.reset();
    exchanges_.erase(exchange.id);
  }

  void DropAfter(Exchange& exchange, milliseconds time) {
    exchange.timer.expires_after(time);
    exchange.timer.async_wait([this, weak = exchange.weak_from_this(),
                               alive = std::weak_ptr(alive_)](const auto& cancelled) {
      if (cancelled || alive.expired()) return;
      if (const auto self = weak.lock(); self && !self->dropped) Drop(*self);
    });
  }

  bool MayResume(Exchange& exchange) const {
    if (closing_ || (version_ && IsModern(*version_))) return false;
    if (exchange.reader.has_event()) exchange.attempts = 0;
    if (exchange.id != 0 && exchange.reader.last_event_id().empty()) return false;
    return exchange.attempts < options_.resume_attempts_max;
  }

  void Resume(const std::shared_ptr<Exchange>& exchange) {
    ++exchange->attempts;
    exchange->fetch.reset();
    const milliseconds wait = exchange->reader.retry().value_or(options_.resume_after);
    exchange->timer.expires_after(std::min(wait, options_.resume_after_max));
    exchange->timer.async_wait([this, weak = std::weak_ptr(exchange),
                                alive = std::weak_ptr(alive_)](const auto& cancelled) {
      if (cancelled || alive.expired()) return;
      if (const auto self = weak.lock(); self && !self->dropped) Get(self);
    });
  }

  void Get(const std::shared_ptr<Exchange>& exchange) {
    HttpHeaders headers = Headers();
    AddSession(headers);
    exchange->in_session = !session_.empty();
    if (const std::string& id = exchange->reader.last_event_id(); !id.empty()) {
      headers.emplace_back("Last-Event-ID", id);
    }
    Run(exchange, {"GET", target_, std::move(headers), {}, true});
  }

  void Listen() {
    if (closing_ || listening_ || !version_ || IsModern(*version_)) return;
    listening_ = std::make_shared<Exchange>(context_, options_.limits, 0);
    Get(listening_);
  }

  void Post(std::string what, HttpHeaders headers, std::string body, std::function<void()> sent) {
    if (posts_.size() >= options_.posts_max || closing_) {
      boost::asio::post(context_, [this, alive = std::weak_ptr(alive_), what = std::move(what),
                                   sent = std::move(sent)] {
        if (alive.expired()) return;
        const bool report = !closing_;
        if (sent) sent();
        if (alive.expired() || !report) return;
        receiver_->OnMisbehaviour(
            Error(Errc::kLimit, what + " was dropped: the server does not take what it is sent"));
      });
      return;
    }
    const std::uint64_t number = ++last_post_;
    OutgoingPost& post = posts_[number];
    post.what = std::move(what);
    post.sent = std::move(sent);
    post.fetch = http_.Start({"POST", target_, std::move(headers), std::move(body), true},
                             {[this, number](const HttpResponseHead& head) {
                                if (head.status / 100 == 2) return;
                                posts_[number].refused = Error(
                                    Errc::kSystem, "HTTP status " + std::to_string(head.status));
                              },
                              [this, number](std::string_view piece) {
                                OutgoingPost& self = posts_[number];
                                self.bytes += piece.size();
                                if (self.bytes > kPostAnswerBytesMax) EndPost(number, {});
                              },
                              [this, number](const Status& end) { EndPost(number, end); }},
                             {kPostTimeMax, kPostTimeMax});
  }

  void EndPost(std::uint64_t number, const Status& end) {
    const OutgoingPost post = std::move(posts_[number]);
    posts_.erase(number);
    const std::weak_ptr alive(alive_);
    if (post.sent) post.sent();
    if (alive.expired() || closing_) return;
    const std::optional<Error> failed = end.ok() ? post.refused : std::optional(end.error());
    if (failed) receiver_->OnMisbehaviour(Error(*failed).Within("sending " + post.what));
  }

  void EndFarewell() {
    farewell_.cancel();
    last_word_.reset();
    if (std::exchange(closed_, true)) return;
    receiver_->OnClosed({});
  }

  boost::asio::io_context& context_;
  const HttpClientChannelOptions options_;
  const std::string target_;
  HttpClient http_;
  Receiver* receiver_ = nullptr;
  std::optional<ProtocolVersion> version_;
  std::string session_;  // legacy era; empty when the server keeps none
  std::map<std::int64_t, std::shared_ptr<Exchange>> exchanges_;
  std::shared_ptr<Exchange> listening_;
  std::map<std::uint64_t, OutgoingPost> posts_;
  std::uint64_t last_post_ = 0;
  std::unique_ptr<HttpClient::Fetch> last_word_;
  boost::asio::steady_timer farewell_;
  bool closing_ = false;
  bool closed_ = false;
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // dies with the channel
};

}  // namespace

Result<std::unique_ptr<ClientChannel>> OpenHttpChannel(boost::asio::io_context& context,
                                                       std::string_view url,
                                                       HttpClientChannelOptions options) {
  HttpUrl server = TRY(ParseHttpUrl(url));
  if (!IsVisibleAscii(options.bearer_token)) {
    return Error(Errc::kInvalidArgument, "a bearer token must be visible ASCII");
  }
  return std::unique_ptr<ClientChannel>(
      std::make_unique<HttpChannel>(context, std::move(server), std::move(options)));
}

}  // namespace glovebox::mcp

#include "mcp/http_endpoint.h"

#include <utility>
#include <variant>

#include <boost/json/object.hpp>

#include "mcp/event_log.h"
#include "mcp/header_mirror.h"
#include "mcp/http_answers.h"
#include "mcp/http_reply.h"
#include "mcp/http_session.h"
#include "mcp/legacy_session.h"
#include "mcp/modern_call.h"
#include "mcp/origin_check.h"
#include "mcp/session_streams.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

constexpr std::string_view kSessionHeader = "mcp-session-id";

HttpResponse Unauthorized() {
  HttpResponse response = Refusal(401, "Unauthorized");
  response.headers.emplace_back("www-authenticate", "Bearer");
  return response;
}

HttpResponse MethodNotAllowed(std::string_view method, std::string_view allowed) {
  HttpResponse response = Refusal(
      405, std::string(method) + " is not possible here; possible: " + std::string(allowed));
  response.headers.emplace_back("allow", allowed);
  return response;
}

// A refusal in the words of JSON-RPC if it answers a request, else in those of HTTP.
HttpResponse RefuseMessage(unsigned status, const std::optional<RequestId>& id, std::string why) {
  if (!id) return Refusal(status, why);
  return ErrorResponse(status, id, {kInvalidRequest, std::move(why)});
}

bool NamesModern(const HttpRequest& http) {
  const auto header = http.Header(kVersionHeader);
  const auto version = header ? VersionFromName(*header) : std::nullopt;
  return version && IsModern(*version);
}

bool MessageClaimsModern(const Message& message) {
  const auto* request = std::get_if<Request>(&message);
  const auto* notification = std::get_if<Notification>(&message);
  return (request != nullptr && ClaimsModern(request->params)) ||
         (notification != nullptr && ClaimsModern(notification->params));
}

// Holds an answer that is given at once.
class HeldAnswer final : public MessageSink {
 public:
  void Send(json::object) override {}
  void Finish(json::value message, const RpcError* error) override {
    response = AnswerResponse(message, error, false);
  }
  void Abandon() override {}
  bool congested() const override { return false; }

  HttpResponse response;
};

}  // namespace

class HttpEndpoint::Impl {
 public:
  Impl(Server& server, HttpEndpointOptions options, Other other)
      : server_(server),
        options_(std::move(options)),
        other_(std::move(other)),
        origin_check_(options_.allowed_hosts, options_.allowed_origins),
        timers_(server.executor(), options_.stream_after, options_.keep_alive),
        sessions_(
            server,
            {options_.sessions_max, options_.sessions_per_client_max, options_.session_idle_max,
             options_.replay_bytes_max, options_.replay_bytes_total_max},
            timers_.keep_alive) {}

  std::optional<HttpResponse> Screen(const HttpRequest& head) const;
  void Handle(const HttpRequest& http, const std::shared_ptr<HttpExchange>& exchange);
  void Drain();
  std::size_t sessions() const { return sessions_.size(); }

 private:
  // A request on our path, and who sent it.
  struct Incoming {
    const HttpRequest& http;
    const std::shared_ptr<HttpExchange>& exchange;
    std::string principal;

    void Respond(HttpResponse response) const { exchange->Respond(std::move(response)); }
  };

  std::optional<std::string> PrincipalOf(const HttpRequest& head) const;
  void Post(const Incoming& in);
  void PostBatch(const Incoming& in, Batch batch);
  void PostRequest(const Incoming& in, Request request);
  void PostModern(const Incoming& in, Request request);
  // A notification or a response of a client: nothing answers it but a status.
  void PostOneWay(const Incoming& in, Message message);
  void OpenSession(const Incoming& in, Request request);
  void Listen(const Incoming& in);
  // The session that a legacy message belongs to. Null after a refusal, which answers `id`.
  HttpSession* FindSession(const Incoming& in, const std::optional<RequestId>& id);
  // `message` is a request or a batch with requests.
  template <typename MessageOrBatch>
  void HandOver(const Incoming& in, HttpSession& session, MessageOrBatch message);

  Server& server_;
  const HttpEndpointOptions options_;
  const Other other_;
  const OriginCheck origin_check_;
  const ReplyTimers timers_;
  HttpSessions sessions_;
  bool draining_ = false;
};

std::optional<std::string> HttpEndpoint::Impl::PrincipalOf(const HttpRequest& head) const {
  return options_.authenticate ? options_.authenticate(head) : std::optional(head.peer);
}

std::optional<HttpResponse> HttpEndpoint::Impl::Screen(const HttpRequest& head) const {
  if (const auto why = origin_check_.Refuse(head)) return Refusal(403, *why);
  if (head.path() != options_.path) return std::nullopt;
  if (!PrincipalOf(head)) return Unauthorized();
  if (head.method != "POST") return std::nullopt;
  const auto content_type = head.Header("content-type");
  if (!content_type || !IsJson(*content_type)) {
    return Refusal(415, "Content-Type must be application/json");
  }
  if (!Accepts(head, "application/json") && !Accepts(head, "text/event-stream")) {
    return Refusal(406, "Accept must include application/json and text/event-stream");
  }
  return std::nullopt;
}

void HttpEndpoint::Impl::Handle(const HttpRequest& http,
                                const std::shared_ptr<HttpExchange>& exchange) {
  if (http.path() != options_.path) {
    return exchange->Respond(other_ ? other_(http) : Refusal(404, "nothing is served here"));
  }
  auto principal = PrincipalOf(http);
  if (!principal) return exchange->Respond(Unauthorized());
  const Incoming in = {http, exchange, std::move(*principal)};
  if (http.method == "POST") return Post(in);
  const bool known = http.method == "GET" || http.method == "DELETE";
  if (!known) return in.Respond(MethodNotAllowed(http.method, "GET, POST, DELETE"));
  // Both belong to sessions, which the modern era has none of.
  if (NamesModern(http)) return in.Respond(MethodNotAllowed(http.method, "POST"));
  if (http.method == "GET") return Listen(in);
  if (HttpSession* session = FindSession(in, std::nullopt)) {
    sessions_.Remove(*session);
    in.Respond({200, {}, ""});
  }
}

void HttpEndpoint::Impl::Post(const Incoming& in) {
  auto parsed = ParseMessage(in.http.body, server_.options().limits);
  if (auto* batch = std::get_if<Batch>(&parsed)) return PostBatch(in, std::move(*batch));
  auto& message = std::get<Message>(parsed);
  if (auto* request = std::get_if<Request>(&message)) return PostRequest(in, std::move(*request));
  if (const auto* invalid = std::get_if<InvalidMessage>(&message)) {
    return in.Respond(ErrorResponse(400, invalid->id, invalid->error));
  }
  PostOneWay(in, std::move(message));
}

void HttpEndpoint::Impl::PostBatch(const Incoming& in, Batch batch) {
  bool modern = NamesModern(in.http);
  bool wants_answer = false;
  for (const Message& message : batch) {
    modern = modern || MessageClaimsModern(message);
    wants_answer = wants_answer || std::holds_alternative<Request>(message) ||
                   std::holds_alternative<InvalidMessage>(message);
  }
  const auto refuse = [&](std::string why) {
    in.Respond(ErrorResponse(400, std::nullopt, {kInvalidRequest, std::move(why)}));
  };
  if (modern) return refuse("send modern requests one by one: their revision has no batches");
  HttpSession* session = FindSession(in, std::nullopt);
  if (session == nullptr) return;
  if (session->legacy.version() > ProtocolVersion::k2025_03_26) {
    return refuse("send messages one by one: the session's revision has no batches");
  }
  if (wants_answer) return HandOver(in, *session, std::move(batch));
  session->legacy.Handle(std::move(batch), nullptr);
  in.Respond({202, {}, ""});
}

void HttpEndpoint::Impl::PostRequest(const Incoming& in, Request request) {
  // What the request says of itself decides; a header alone makes nothing modern.
  if (ClaimsModern(request.params)) return PostModern(in, std::move(request));
  if (NamesModern(in.http)) {
    const RpcError error =
        request.method == "initialize"
            ? RpcError{kHeaderMismatch,
                       "header mcp-protocol-version names a revision that has no "
                       "initialize"}
            : ToRpcError(ReadEnvelope(request.params).error());
    return in.Respond(ErrorResponse(400, request.id, error));
  }
  if (request.method == "initialize") return OpenSession(in, std::move(request));
  if (HttpSession* session = FindSession(in, request.id)) {
    HandOver(in, *session, Message(std::move(request)));
  }
}

void HttpEndpoint::Impl::PostModern(const Incoming& in, Request request) {
  const auto refuse = [&](const RpcError& error) {
    in.Respond(ErrorResponse(400, request.id, error));
  };
  auto envelope = ReadEnvelope(request.params);
  if (!envelope) return refuse(ToRpcError(envelope.error()));
  if (const auto error = CheckClaims(in.http, request, envelope->version)) return refuse(*error);
  if (const auto error = CheckVersion(*envelope)) return refuse(*error);
  if (const auto error = CheckRequiredHeaders(in.http, request)) return refuse(*error);
  if (request.method == "tools/call") {
    const auto error = CheckParameterHeaders(in.http, request.params, server_.tools());
    if (error) return refuse(*error);
  }
  const auto reply = std::make_shared<ModernReply>(in.exchange, timers_);
  const auto call = StartModernCall(server_, std::move(request), std::move(envelope).value(),
                                    in.principal, reply, nullptr);
  if (call != nullptr) reply->Await(call);
}

void HttpEndpoint::Impl::PostOneWay(const Incoming& in, Message message) {
  const bool is_response = std::holds_alternative<Response>(message);
  if (MessageClaimsModern(message) || NamesModern(in.http)) {
    // Cancellation, the one thing a modern client could have to say, is the end of its connection.
    if (!is_response) return in.Respond({202, {}, ""});
    return in.Respond(ErrorResponse(
        400, std::nullopt, {kInvalidRequest, "a response: modern servers send no requests"}));
  }
  HttpSession* session = FindSession(in, std::nullopt);
  if (session == nullptr) return;
  session->legacy.Handle(std::move(message), nullptr);
  in.Respond({202, {}, ""});
}

template <typename MessageOrBatch>
void HttpEndpoint::Impl::HandOver(const Incoming& in, HttpSession& session,
                                  MessageOrBatch message) {
  const auto reply = std::make_shared<LegacyReply>(in.exchange, session.streams, timers_);
  session.legacy.Handle(std::move(message), reply);
  reply->Await();
}

HttpSession* HttpEndpoint::Impl::FindSession(const Incoming& in,
                                             const std::optional<RequestId>& id) {
  const auto refuse = [&](unsigned status, std::string why) -> HttpSession* {
    in.Respond(RefuseMessage(status, id, std::move(why)));
    return nullptr;
  };
  if (const auto header = in.http.Header(kVersionHeader)) {
    const auto version = VersionFromName(*header);
    if (!version || *version < kOldestVersionOverHttp) {
      return refuse(400, "MCP-Protocol-Version " + std::string(*header) +
                             " is not served; use the version that initialize answered");
    }
  }
  if (in.http.CountHeader(kSessionHeader) != 1) {
    return refuse(400, "Mcp-Session-Id must be given once; initialize answers with it");
  }
  HttpSession* session = sessions_.Find(*in.http.Header(kSessionHeader), in.principal);
  if (session == nullptr) return refuse(404, "no such session; start one with initialize");
  return session;
}

void HttpEndpoint::Impl::OpenSession(const Incoming& in, Request request) {
  const auto refuse = [&](std::string why) {
    in.Respond(RefuseMessage(503, request.id, std::move(why)));
  };
  if (draining_) return refuse("the server is shutting down");
  auto created = sessions_.Create(in.principal);
  if (!created) return refuse(created.error().message());
  auto session = std::move(created).value();
  const auto answer = std::make_shared<HeldAnswer>();
  session->legacy.Handle(Message(std::move(request)), answer);
  if (session->legacy.version()) {
    answer->response.headers.emplace_back(kSessionHeader, session->id);
    session->streams->set_priming(*session->legacy.version() >= ProtocolVersion::k2025_11_25);
    sessions_.Add(std::move(session));
  }
  in.Respond(std::move(answer->response));
}

void HttpEndpoint::Impl::Listen(const Incoming& in) {
  if (!Accepts(in.http, "text/event-stream")) {
    return in.Respond(Refusal(406, "Accept must include text/event-stream"));
  }
  HttpSession* session = FindSession(in, std::nullopt);
  if (session == nullptr) return;
  if (const auto header = in.http.Header("last-event-id")) {
    const auto last = ParseEventId(*header);
    const Status resumed =
        last ? session->streams->Resume(*last, in.exchange)
             : Error(Errc::kInvalidArgument, "it is not the id of an event of ours");
    if (!resumed) in.Respond(Refusal(400, "Last-Event-ID: " + resumed.error().message()));
    return;
  }
  if (draining_) return in.Respond(Refusal(503, "the server is shutting down"));
  if (session->streams->has_listener()) {
    return in.Respond(Refusal(409, "the session has a stream open already; one is enough"));
  }
  session->streams->OpenStandalone(in.exchange);
}

void HttpEndpoint::Impl::Drain() {
  draining_ = true;
  server_.changes().EndStreams();
  sessions_.EndListening();
}

HttpEndpoint::HttpEndpoint(Server& server, HttpEndpointOptions options, Other other)
    : impl_(std::make_unique<Impl>(server, std::move(options), std::move(other))) {}

HttpEndpoint::~HttpEndpoint() = default;

std::optional<HttpResponse> HttpEndpoint::Screen(const HttpRequest& head) {
  return impl_->Screen(head);
}

void HttpEndpoint::Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) {
  impl_->Handle(request, exchange);
}

void HttpEndpoint::Drain() { impl_->Drain(); }

std::size_t HttpEndpoint::sessions() const { return impl_->sessions(); }

}  // namespace glovebox::mcp

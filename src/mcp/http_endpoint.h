#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/server.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

struct HttpEndpointOptions {
  std::string path = "/mcp";
  // Besides localhost, 127.0.0.1 and [::1], which are always taken: names clients may call us by
  // (Host) and pages that may call us (Origin). Against DNS rebinding; see OriginCheck.
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  // Who is asking: the principal's name, or nothing for 401. Null: everybody, by peer address.
  std::function<std::optional<std::string>(const HttpRequest& head)> authenticate;
  std::chrono::milliseconds keep_alive{15'000};  // a comment on quiet streams
  std::chrono::milliseconds stream_after{100};   // no answer by then: open the stream
  std::size_t sessions_max = 1000;               // legacy era; the longest idle makes room
  std::size_t sessions_per_client_max = 100;
  std::chrono::milliseconds session_idle_max{std::chrono::minutes(30)};
  std::size_t replay_bytes_max = 4u << 20;          // per session, for resumed streams
  std::size_t replay_bytes_total_max = 256u << 20;  // of all sessions
};

// MCP over Streamable HTTP on one path, both eras: looks at each request in a fixed order (Host and
// Origin, authentication, content type, envelope, mirrored headers, version, dispatch), maps
// answers to status codes, streams by SSE. Legacy clients get sessions with resumable streams;
// modern ones get one response per request, and closing it cancels.
//
// Thread rule: the thread of the server's io_context.
class HttpEndpoint final : public HttpHandler {
 public:
  // Every other path; null answers 404. For health and metrics: Host and Origin have been checked,
  // nobody has been authenticated.
  using Other = std::function<HttpResponse(const HttpRequest& request)>;

  // `server` must outlive the endpoint.
  HttpEndpoint(Server& server, HttpEndpointOptions options, Other other = nullptr);
  ~HttpEndpoint() override;

  std::optional<HttpResponse> Screen(const HttpRequest& head) override;
  void Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override;

  // Ends streams that would never end by themselves (legacy GET, subscriptions/listen), so that the
  // HTTP server can drain. New sessions are refused from here on.
  void Drain();

  std::size_t sessions() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace glovebox::mcp

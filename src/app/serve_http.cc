#include "app/serve_http.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/access_tokens.h"
#include "app/metrics.h"
#include "app/python_service.h"
#include "app/readiness.h"
#include "app/request_log.h"
#include "app/status_pages.h"
#include "mcp/http_endpoint.h"
#include "mcp/refusal_hold.h"
#include "transport/http_server.h"

namespace glovebox {
namespace {

// As in a URL and a Host header.
std::string HostText(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

mcp::HttpEndpointOptions EndpointOptions(const ServeSettings& settings,
                                         const AccessTokens& tokens) {
  mcp::HttpEndpointOptions options;
  options.path = settings.path;
  options.allowed_hosts = settings.server_names;
  options.allowed_origins = settings.allowed_origins;
  options.allowed_hosts.push_back(HostText(settings.host));
  // Behind a token no page of somebody else can do harm by having its name resolved to us, and of
  // the many names of a reachable address we know none.
  if (settings.server_names.empty() && !IsLoopback(settings.host)) {
    options.allowed_hosts.emplace_back("*");
  }
  if (!tokens.empty()) {
    options.authenticate = [&tokens](const HttpRequest& head) { return tokens.Authenticate(head); };
  }
  options.sessions_max = settings.sessions_max;
  return options;
}

HttpServerOptions ListeningOptions(const ServeSettings& settings) {
  HttpServerOptions options;
  options.host = settings.host;
  options.port = static_cast<std::uint16_t>(settings.port);
  options.body_bytes_max = settings.body_bytes_max;
  options.connections_max = settings.connections_max;
  options.connections_per_peer_max = settings.connections_per_peer_max;
  return options;
}

// A server on its way from the first request to the last. Members go in the reverse order: first
// the connections, then who answers them, then the boxes.
class HttpService {
 public:
  HttpService(boost::asio::io_context& context, const ServeSettings& settings, const Log& log,
              AccessTokens tokens, std::unique_ptr<PythonService> python)
      : context_(context),
        settings_(settings),
        log_(log),
        tokens_(std::move(tokens)),
        python_(std::move(python)),
        readiness_(python_->boxes()),
        endpoint_(python_->server(), EndpointOptions(settings, tokens_),
                  [this](const HttpRequest& request) { return pages_.Answer(request); }),
        refusals_(context.get_executor(), endpoint_),
        signals_(context, SIGTERM, SIGINT) {
    python_->on_execution = [this](const Outcome& outcome) {
      metrics_.OnExecution(outcome);
      readiness_.OnExecution(outcome);
    };
    python_->server().on_request = [this](std::string_view method, int code, double seconds) {
      metrics_.OnRequest(method, code, seconds);
      LogRequest(log_, method, code, seconds);
    };
    pages_ = {[this] { return readiness_.WhyNot(); }, [this] { return metrics_.Text(Readings()); },
              [this](const HttpRequest& request) {
                return IsLoopback(settings_.host) || tokens_.Authenticate(request).has_value();
              }};
  }

  // The last calls end while the members are being destroyed; nobody listens any more.
  ~HttpService() {
    python_->on_execution = nullptr;
    python_->server().on_request = nullptr;
  }
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  Status Listen() {
    listener_ = TRY(HttpServer::Listen(context_, refusals_, ListeningOptions(settings_)));
    readiness_.Probe();
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) Drain();
    });
    log_.Inform("serving MCP on http://" + HostText(settings_.host) + ":" +
                std::to_string(listener_->port()) + settings_.path + " (" +
                (tokens_.empty() ? "no token" : "token required") + ", " +
                std::to_string(settings_.boxes_max) +
                " boxes); /healthz, /readyz and /metrics beside it");
    return {};
  }

 private:
  void Drain() {
    log_.Inform("finishing what is running, for at most " +
                std::to_string(settings_.drain_seconds_max) + " s; a second signal ends at once");
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) context_.stop();
    });
    readiness_.Drain();
    python_->server().changes().EndStreams();
    endpoint_.Drain();
    listener_->Drain(std::chrono::seconds(settings_.drain_seconds_max),
                     [this] { context_.stop(); });
  }

  Metrics::Readings Readings() {
    const ExecutorLoad load = python_->boxes().load();
    return {.boxes_running = load.running,
            .boxes_max = settings_.boxes_max,
            .executions_waiting = load.waiting,
            .http_connections = listener_->connections(),
            .http_sessions = endpoint_.sessions(),
            .tasks = python_->server().tasks().size(),
            .refusals = python_->server().admission().refused_count()};
  }

  boost::asio::io_context& context_;
  const ServeSettings& settings_;
  const Log& log_;
  const AccessTokens tokens_;
  const std::unique_ptr<PythonService> python_;
  Metrics metrics_{GLOVEBOX_VERSION};
  Readiness readiness_;
  StatusPages pages_;
  mcp::HttpEndpoint endpoint_;
  mcp::RefusalHold refusals_;
  std::unique_ptr<HttpServer> listener_;
  boost::asio::signal_set signals_;
};

}  // namespace

Status ServeHttp(const Configuration& configuration, const Log& log) {
  const ServeSettings& settings = configuration.settings;
  AccessTokens tokens = TRY(AccessTokens::Load(settings));
  TRY(CheckListening(settings, tokens));
  boost::asio::io_context context(1);
  auto python = TRY(PythonService::Create(context, configuration, log));
  HttpService service(context, settings, log, std::move(tokens), std::move(python));
  TRY(service.Listen());
  context.run();
  return {};
}

}  // namespace glovebox

#include "app/status_pages.h"

#include <utility>

namespace glovebox {
namespace {

HttpResponse Page(unsigned status, std::string body, std::string type) {
  HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", std::move(type)}, {"Cache-Control", "no-store"}};
  response.body = std::move(body);
  return response;
}

HttpResponse TextPage(unsigned status, const std::string& line) {
  return Page(status, line + "\n", "text/plain; charset=utf-8");
}

HttpResponse ErrorPage(unsigned status, const std::string& error) {
  return Page(status, "{\"error\":\"" + error + "\"}", "application/json");
}

}  // namespace

HttpResponse StatusPages::Answer(const HttpRequest& request) const {
  const std::string_view path = request.path();
  const bool known = path == "/healthz" || path == "/readyz" || path == "/metrics";
  if (!known) return ErrorPage(404, "Not found");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refusal = ErrorPage(405, "Method not allowed");
    refusal.headers.emplace_back("Allow", "GET, HEAD");
    return refusal;
  }
  if (path == "/healthz") return TextPage(200, "ok");
  if (path == "/readyz") {
    const std::string reason = why_not_ready();
    return reason.empty() ? TextPage(200, "ready") : TextPage(503, reason);
  }
  if (!may_read_metrics(request)) {
    HttpResponse refusal = ErrorPage(401, "Unauthorized");
    refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
    return refusal;
  }
  return Page(200, metrics(), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace glovebox

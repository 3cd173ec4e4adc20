#pragma once

#include <functional>
#include <string>

#include "transport/http_server.h"

namespace glovebox {

// The pages for operators, beside the MCP endpoint. They say nothing about clients or code.
struct StatusPages {
  std::function<std::string()> why_not_ready;  // empty: ready
  std::function<std::string()> metrics;        // in the text format of Prometheus
  std::function<bool(const HttpRequest&)> may_read_metrics;

  // /healthz: 200 while the process answers. /readyz: 200, or 503 with the reason. /metrics: 200,
  // or 401. Anything else is 404; other methods than GET and HEAD are 405.
  HttpResponse Answer(const HttpRequest& request) const;
};

}  // namespace glovebox

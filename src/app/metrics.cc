#include "app/metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace glovebox {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

// Every method of the protocol that a client may send us. A name of its own invention is "other".
constexpr std::array<std::string_view, 21> kMethods = {"completion/complete",
                                                       "initialize",
                                                       "logging/setLevel",
                                                       "notifications/cancelled",
                                                       "notifications/initialized",
                                                       "notifications/roots/list_changed",
                                                       "ping",
                                                       "prompts/get",
                                                       "prompts/list",
                                                       "resources/list",
                                                       "resources/read",
                                                       "resources/subscribe",
                                                       "resources/templates/list",
                                                       "resources/unsubscribe",
                                                       "server/discover",
                                                       "subscriptions/listen",
                                                       "tasks/cancel",
                                                       "tasks/get",
                                                       "tasks/update",
                                                       "tools/call",
                                                       "tools/list"};

std::string_view MethodLabel(std::string_view method) {
  const auto found = std::find(kMethods.begin(), kMethods.end(), method);
  return found != kMethods.end() ? *found : "other";
}

std::string_view OutcomeLabel(int error_code) {
  switch (error_code) {
    case 0: return "ok";
    case -32700: return "parse_error";
    case -32600: return "invalid_request";
    case -32601: return "unknown_method";
    case -32602: return "invalid_params";
    case -32603: return "internal_error";
    case -32020: return "header_mismatch";
    case -32021: return "missing_capability";
    case -32022: return "unsupported_version";
    default: return "error";
  }
}

constexpr std::array<ExecutionStatus, 7> kStatuses = {
    ExecutionStatus::kCompleted,     ExecutionStatus::kFailed,   ExecutionStatus::kTimedOut,
    ExecutionStatus::kLimitExceeded, ExecutionStatus::kViolated, ExecutionStatus::kCancelled,
    ExecutionStatus::kSetupFailed};

// As ErrorCategory() names them.
constexpr std::array<std::string_view, 7> kCategories = {
    "syntax", "runtime", "timeout", "resource", "security", "cancelled", "internal"};

// From half a millisecond, what a small program takes, to the longest run by default.
const Histogram::BucketBoundaries& Seconds() {
  static const Histogram::BucketBoundaries boundaries = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
  return boundaries;
}

}  // namespace

class Metrics::Families {
 public:
  explicit Families(std::string_view version) {
    prometheus::BuildGauge()
        .Name("glovebox_build_info")
        .Help("1, with the version as a label.")
        .Register(registry)
        .Add({{"version", std::string(version)}})
        .Set(1);
    auto& executions = prometheus::BuildCounter()
                           .Name("glovebox_executions_total")
                           .Help("Executions that ended, by how they ended.")
                           .Register(registry);
    auto& errors = prometheus::BuildCounter()
                       .Name("glovebox_execution_errors_total")
                       .Help("Executions that did not complete, by what kind of failure it was.")
                       .Register(registry);
    for (const std::string_view category : kCategories) {
      errors_by_category[category] = &errors.Add({{"category", std::string(category)}});
    }
    for (const ExecutionStatus status : kStatuses) {
      executions_by_status[status] = &executions.Add({{"status", std::string(StatusName(status))}});
    }
  }

  Counter& Requests(std::string_view method, std::string_view outcome) {
    Counter*& counter = requests_by_kind[{method, outcome}];
    if (counter == nullptr) {
      counter = &requests.Add({{"method", std::string(method)}, {"outcome", std::string(outcome)}});
    }
    return *counter;
  }

  prometheus::Registry registry;
  std::map<ExecutionStatus, Counter*> executions_by_status;
  std::map<std::string_view, Counter*> errors_by_category;
  Histogram& execution_seconds =
      NewHistogram("glovebox_execution_seconds", "Wall time of executions in their box.");
  Histogram& queue_seconds = NewHistogram(
      "glovebox_queue_seconds", "Time executions waited for a place and the birth of their box.");
  Histogram& request_seconds =
      NewHistogram("glovebox_request_seconds", "Time from a request to its answer.");
  Gauge& boxes_running = NewGauge("glovebox_boxes_running", "Boxes alive now.");
  Gauge& boxes_max = NewGauge("glovebox_boxes_max", "Boxes that may be alive at once.");
  Gauge& executions_waiting =
      NewGauge("glovebox_executions_waiting", "Executions that wait for a box now.");
  Gauge& http_connections = NewGauge("glovebox_http_connections", "Connections open now.");
  Gauge& http_sessions =
      NewGauge("glovebox_http_sessions", "Sessions of clients that opened with initialize.");
  Gauge& tasks = NewGauge("glovebox_tasks", "Tasks that can be read now, finished ones included.");
  Counter& refusals = prometheus::BuildCounter()
                          .Name("glovebox_refusals_total")
                          .Help("Requests refused because their client was over its share.")
                          .Register(registry)
                          .Add({});

 private:
  Gauge& NewGauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
  }
  Histogram& NewHistogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, Seconds());
  }

  prometheus::Family<Counter>& requests =
      prometheus::BuildCounter()
          .Name("glovebox_requests_total")
          .Help("MCP requests that were answered, by method and outcome.")
          .Register(registry);
  // Both texts are constants of this file.
  std::map<std::pair<std::string_view, std::string_view>, Counter*> requests_by_kind;
};

Metrics::Metrics(std::string_view version) : families_(std::make_unique<Families>(version)) {}

Metrics::~Metrics() = default;

void Metrics::OnExecution(const Outcome& outcome) {
  families_->executions_by_status.at(outcome.status)->Increment();
  if (const std::string_view category = ErrorCategory(outcome); !category.empty()) {
    families_->errors_by_category.at(category)->Increment();
  }
  families_->execution_seconds.Observe(outcome.wall_seconds);
  families_->queue_seconds.Observe(std::max(outcome.queue_seconds, 0.0));
}

void Metrics::OnRequest(std::string_view method, int error_code, double seconds) {
  families_->Requests(MethodLabel(method), OutcomeLabel(error_code)).Increment();
  families_->request_seconds.Observe(seconds);
}

std::string Metrics::Text(const Readings& now) {
  const auto set = [](Gauge& gauge, std::size_t value) { gauge.Set(static_cast<double>(value)); };
  set(families_->boxes_running, now.boxes_running);
  set(families_->boxes_max, now.boxes_max);
  set(families_->executions_waiting, now.executions_waiting);
  set(families_->http_connections, now.http_connections);
  set(families_->http_sessions, now.http_sessions);
  set(families_->tasks, now.tasks);
  Counter& refusals = families_->refusals;
  refusals.Increment(static_cast<double>(now.refusals) - refusals.Value());
  const prometheus::TextSerializer serializer;
  return serializer.Serialize(families_->registry.Collect());
}

}  // namespace glovebox

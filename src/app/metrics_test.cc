#include "app/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

using testing::HasSubstr;
using testing::Not;

Outcome Ended(ExecutionStatus status, double wall, double queue) {
  Outcome outcome;
  outcome.status = status;
  outcome.wall_seconds = wall;
  outcome.queue_seconds = queue;
  return outcome;
}

TEST(MetricsTest, CountsExecutionsByStatusAndTime) {
  Metrics metrics("1.2.3");
  EXPECT_THAT(metrics.Text({}), HasSubstr("glovebox_build_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(metrics.Text({}), HasSubstr("glovebox_executions_total{status=\"timed_out\"} 0\n"));
  metrics.OnExecution(Ended(ExecutionStatus::kCompleted, 0.002, 0.0001));
  metrics.OnExecution(Ended(ExecutionStatus::kCompleted, 40, 20));
  metrics.OnExecution(Ended(ExecutionStatus::kTimedOut, 30, -0.0001));
  const std::string text = metrics.Text({});
  EXPECT_THAT(text, HasSubstr("glovebox_executions_total{status=\"completed\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("glovebox_executions_total{status=\"timed_out\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("glovebox_execution_seconds_bucket{le=\"0.0025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("glovebox_execution_seconds_count 3\n"));
  EXPECT_THAT(text, HasSubstr("glovebox_queue_seconds_bucket{le=\"0.0005\"} 2\n"));
}

TEST(MetricsTest, EveryStatusIsThereFromTheStart) {
  const std::string text = Metrics("1").Text({});
  for (const char* status : {"completed", "failed", "timed_out", "limit_exceeded", "violated",
                             "cancelled", "setup_failed"}) {
    EXPECT_THAT(text, HasSubstr("{status=\"" + std::string(status) + "\"} 0\n"));
  }
}

TEST(MetricsTest, NothingAClientWritesBecomesALabel) {
  Metrics metrics("1");
  metrics.OnRequest("tools/call", 0, 0.1);
  metrics.OnRequest("tools/call", 0, 0.1);
  metrics.OnRequest("tools/call", -32602, 0.1);
  metrics.OnRequest("no/such", -32601, 0.1);
  metrics.OnRequest("evil\"} 7\n", -32601, 0.1);
  metrics.OnRequest("ping", -31999, 0.1);
  const std::string text = metrics.Text({});
  EXPECT_THAT(text, HasSubstr("glovebox_requests_total{method=\"tools/call\",outcome=\"ok\"} 2\n"));
  EXPECT_THAT(
      text,
      HasSubstr("glovebox_requests_total{method=\"tools/call\",outcome=\"invalid_params\"} 1"));
  EXPECT_THAT(
      text, HasSubstr("glovebox_requests_total{method=\"other\",outcome=\"unknown_method\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("glovebox_requests_total{method=\"ping\",outcome=\"error\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("evil")));
  EXPECT_THAT(text, Not(HasSubstr("no/such")));
  EXPECT_THAT(text, HasSubstr("glovebox_request_seconds_count 6\n"));
}

TEST(MetricsTest, ReadingsAreWhatTheyWereLast) {
  Metrics metrics("1");
  metrics.Text({.boxes_running = 9, .refusals = 2});
  const std::string text = metrics.Text({.boxes_running = 3,
                                         .boxes_max = 16,
                                         .executions_waiting = 4,
                                         .http_connections = 5,
                                         .http_sessions = 6,
                                         .tasks = 7,
                                         .refusals = 8});
  EXPECT_THAT(text, HasSubstr("\nglovebox_boxes_running 3\n"));
  EXPECT_THAT(text, HasSubstr("\nglovebox_boxes_max 16\n"));
  EXPECT_THAT(text, HasSubstr("\nglovebox_executions_waiting 4\n"));
  EXPECT_THAT(text, HasSubstr("\nglovebox_http_connections 5\n"));
  EXPECT_THAT(text, HasSubstr("\nglovebox_http_sessions 6\n"));
  EXPECT_THAT(text, HasSubstr("\nglovebox_tasks 7\n"));
  EXPECT_THAT(text, HasSubstr("\nglovebox_refusals_total 8\n"));
}

}  // namespace
}  // namespace glovebox

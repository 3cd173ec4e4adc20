#include "doctor/trial_box.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/text.h"
#include "executor/local_executor.h"

namespace glovebox::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTrialSecondsMax{10};  // of a few milliseconds' work
constexpr const char* kSum = "print(2+2)";
constexpr const char* kAttempt =
    "import os\n"
    "try:\n"
    "    os.system('true')\n"
    "except PermissionError:\n"
    "    print('refused')\n";

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// Nothing when it did not end in time.
std::optional<Outcome> Run(boost::asio::io_context& context, Executor& executor,
                           const std::string& code, bool use_container = false) {
  ExecutionRequest request;
  request.code = code;
  request.use_container = use_container;
  std::optional<Outcome> outcome;
  const auto execution = executor.Start(
      std::move(request), nullptr, [&outcome](Outcome arrived) { outcome = std::move(arrived); });
  const auto end = Clock::now() + kTrialSecondsMax;
  while (!outcome && context.run_one_until(end) > 0) {
  }
  return outcome;
}

void Describe(const std::optional<Outcome>& outcome, BoxReport& box) {
  if (!outcome) {
    box.reason = "the box did not answer within 10 seconds";
    return;
  }
  box.output = Trim(outcome->stdout_stream.text);
  box.run_seconds = outcome->wall_seconds;
  box.missing_walls = outcome->missing_walls;
  box.ran = outcome->status == ExecutionStatus::kCompleted && box.output == "4";
  if (box.ran) {
    box.limits_tier = outcome->limits_tier == LimitsTier::kCgroup ? "cgroup" : "supervisor";
  } else {
    box.reason =
        outcome->message.empty() ? "it printed '" + box.output + "', not 4" : outcome->message;
  }
}

bool InterpreterRefused(const std::optional<Outcome>& outcome) {
  return outcome && Trim(outcome->stdout_stream.text) == "refused" &&
         std::any_of(outcome->events.begin(), outcome->events.end(), [](const Event& event) {
           return event.source == EventSource::kInterpreter && event.refused;
         });
}

TrialReport TryOnce(const std::string& zygote_program, bool allow_degraded) {
  TrialReport report;
  report.box.code = kSum;
  const Clock::time_point start = Clock::now();
  boost::asio::io_context context(1);
  LocalExecutorOptions options;
  options.zygote_program = zygote_program;
  options.boxes_max = 1;
  options.allow_degraded = allow_degraded;
  auto executor = CreateLocalExecutor(context, std::move(options));
  if (!executor) {
    report.box.reason = executor.error().message();
    return report;
  }
  Describe(Run(context, **executor, kSum), report.box);
  report.box.degraded = allow_degraded;
  report.box.start_seconds = Seconds(Clock::now() - start) - report.box.run_seconds;
  if (report.box.ran) {
    report.interpreter_refuses = InterpreterRefused(Run(context, **executor, kAttempt));
  }
  return report;
}

}  // namespace

TrialReport TryBox(const std::string& zygote_program) {
  TrialReport report = TryOnce(zygote_program, false);
  if (report.box.ran) return report;
  TrialReport weaker = TryOnce(zygote_program, true);
  return weaker.box.ran ? weaker : report;
}

ContainerReport TryContainer(const std::string& zygote_program) {
  ContainerReport report;
  const Clock::time_point start = Clock::now();
  boost::asio::io_context context(1);
  LocalExecutorOptions options;
  options.zygote_program = zygote_program;
  options.boxes_max = 1;
  options.allow_degraded = true;
  options.containers = ContainerTierOptions{"auto", "", 0};
  options.on_containers = [&report](const ContainerTierReport& tier) {
    report.runtime = tier.runtime;
    report.reason = tier.reason;
  };
  auto executor = CreateLocalExecutor(context, std::move(options));
  if (!executor) report.reason = executor.error().message();
  if (!executor || report.runtime.empty()) return report;
  const std::optional<Outcome> outcome = Run(context, **executor, kSum, true);
  report.ran = outcome && Trim(outcome->stdout_stream.text) == "4";
  if (report.ran) {
    report.run_seconds = outcome->wall_seconds;
    report.start_seconds = Seconds(Clock::now() - start) - report.run_seconds;
  } else {
    report.reason = outcome ? outcome->message : "the container did not answer within 10 seconds";
  }
  return report;
}

}  // namespace glovebox::doctor

#include "warm_executor.h"

#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "executor/local_executor.h"
#include "warm_python.h"

namespace glovebox::bench {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Result<std::unique_ptr<WarmExecutor>> WarmExecutor::Start(const std::string& zygote,
                                                          const Workload& workload) {
  std::unique_ptr<WarmExecutor> warm(new WarmExecutor(workload));
  LocalExecutorOptions options;
  options.zygote_program = zygote;
  options.kinds = {{.name = "python", .preimports = ModulesOf(workload), .warm_boxes = kWarmBoxes}};
  warm->executor_ = TRY(CreateLocalExecutor(warm->context_, std::move(options)));
  TRY(warm->Run());
  return warm;
}

Result<std::unique_ptr<WarmExecutor>> WarmExecutor::StartContainers(const std::string& zygote,
                                                                    const Workload& workload) {
  std::unique_ptr<WarmExecutor> warm(new WarmExecutor(workload));
  warm->use_container_ = true;
  LocalExecutorOptions options;
  options.zygote_program = zygote;
  options.kinds = {{.name = "python", .preimports = ModulesOf(workload), .warm_boxes = 0}};
  options.containers = ContainerTierOptions{"auto", "", kWarmContainers};
  warm->executor_ = TRY(CreateLocalExecutor(warm->context_, std::move(options)));
  TRY(warm->Run());
  return warm;
}

void WarmExecutor::StartOne(std::function<void()> then) {
  ExecutionRequest request;
  request.code = workload_.code;
  request.use_container = use_container_;
  executor_->Start(std::move(request), nullptr, [this, then = std::move(then)](Outcome outcome) {
    if (outcome.stdout_stream.text != workload_.output) {
      failure_ = "an execution printed '" + outcome.stdout_stream.text + "' " + outcome.message;
    }
    then();
  });
}

Status WarmExecutor::Run() {
  StartOne([this] { context_.stop(); });
  context_.restart();
  context_.run();
  return failure_.empty() ? Status() : Error(Errc::kSystem, failure_);
}

Result<double> WarmExecutor::RunsPerSecond(double seconds, int in_flight) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + Seconds(seconds);
  int done = 0;
  int running = in_flight;
  const std::function<void()> next = [&] {
    ++done;
    if (Clock::now() < end && failure_.empty()) {
      StartOne(next);
    } else if (--running == 0) {
      context_.stop();
    }
  };
  for (int i = 0; i < in_flight; ++i) StartOne(next);
  context_.restart();
  context_.run();
  if (!failure_.empty()) return Error(Errc::kSystem, failure_);
  return done / std::chrono::duration<double>(Clock::now() - start).count();
}

void WarmExecutor::Idle(double seconds) {
  context_.restart();
  context_.run_for(Seconds(seconds));
}

}  // namespace glovebox::bench

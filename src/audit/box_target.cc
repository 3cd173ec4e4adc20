#include "audit/box_target.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "audit/scene.h"
#include "executor/local_executor.h"

namespace glovebox::audit {
namespace {

constexpr std::uint32_t kWallMsMax = 5'000;

void AddText(const wire::Value& value, std::string& text) {
  if (const auto* string = std::get_if<std::string>(&value.data)) text += *string + "\n";
  if (const auto* list = std::get_if<wire::Value::List>(&value.data)) {
    for (const wire::Value& item : *list) AddText(item, text);
  }
  if (const auto* dict = std::get_if<wire::Value::Dict>(&value.data)) {
    for (const wire::Value::Item& item : *dict) {
      text += item.name + "\n";
      AddText(item.value, text);
    }
  }
}

std::string ProblemIn(const Outcome& outcome) {
  if (outcome.error) {
    const PythonError& error = *outcome.error;
    return error.type + (error.message.empty() ? "" : ": " + error.message);
  }
  return outcome.message;
}

class BoxRun final : public RunningProgram {
 public:
  BoxRun(Executor& executor, ExecutionRequest request) {
    // Owned by the handler too: a late answer must not touch a dead object.
    execution_ = executor.Start(std::move(request), nullptr, [answer = attempt_](Outcome outcome) {
      Attempt attempt;
      attempt.ran = outcome.status != ExecutionStatus::kSetupFailed;
      attempt.output = EverythingIn(outcome);
      attempt.problem = ProblemIn(outcome);
      *answer = std::move(attempt);
    });
  }
  ~BoxRun() override {
    if (!attempt_->has_value()) execution_->Cancel();
  }
  BoxRun(const BoxRun&) = delete;
  BoxRun& operator=(const BoxRun&) = delete;

  const Attempt* attempt() const override { return attempt_->has_value() ? &**attempt_ : nullptr; }

 private:
  std::shared_ptr<std::optional<Attempt>> attempt_ = std::make_shared<std::optional<Attempt>>();
  std::shared_ptr<Execution> execution_;
};

class BoxTarget final : public Target {
 public:
  explicit BoxTarget(BoxTargetOptions options) : options_(std::move(options)) {}

  Status Open() {
    LocalExecutorOptions options;
    options.zygote_program = options_.zygote_program;
    options.kinds = options_.kinds;
    options.walls = options_.walls;
    options.allow_degraded = options_.allow_degraded;
    options.cgroup_parent = options_.cgroup_parent;
    options.on_degraded = [this](const std::vector<std::string>& walls) { missing_ = walls; };
    ContainerTierReport containers;
    if (!options_.container_runtime.empty()) {
      options.containers = ContainerTierOptions{.runtime = options_.container_runtime, .image = {}};
      options.on_containers = [&containers](const ContainerTierReport& report) {
        containers = report;
      };
    }
    executor_ = TRY(CreateLocalExecutor(context_, std::move(options)));
    if (!options_.container_runtime.empty() && !containers.available()) {
      return Error(Errc::kUnsupported, "no containers here: " + containers.reason);
    }
    runtime_ = containers.runtime;
    return {};
  }

  std::unique_ptr<RunningProgram> Start(const std::string& code) override {
    ExecutionRequest request;
    request.kind = options_.kind;
    request.use_container = !options_.container_runtime.empty();
    request.code = code;
    request.language = options_.language;
    request.limits.wall_ms_max = kWallMsMax;
    request.limits.memory_bytes_max = kMemoryLimitBytes;
    request.limits.processes_max = kProcessesLimit;
    return std::make_unique<BoxRun>(*executor_, std::move(request));
  }

  void Turn(int milliseconds) override {
    const std::chrono::milliseconds time(milliseconds);
    context_.restart();
    context_.run_one_for(time);
    if (context_.stopped()) std::this_thread::sleep_for(time);  // nothing to do
  }

  std::string description() const override {
    return options_.description + (runtime_.empty() ? "" : ", in a container: " + runtime_);
  }
  std::vector<std::string> missing_walls() const override { return missing_; }

 private:
  const BoxTargetOptions options_;
  std::vector<std::string> missing_;
  std::string runtime_;  // of containers; empty without
  boost::asio::io_context context_{1};
  std::unique_ptr<Executor> executor_;
};

}  // namespace

Result<std::unique_ptr<Target>> MakeBoxTarget(BoxTargetOptions options) {
  auto target = std::make_unique<BoxTarget>(std::move(options));
  TRY(target->Open());
  return std::unique_ptr<Target>(std::move(target));
}

std::string EverythingIn(const Outcome& outcome) {
  std::string text;
  for (const std::string* place :
       {&outcome.stdout_stream.text, &outcome.stdout_stream.tail, &outcome.stderr_stream.text,
        &outcome.stderr_stream.tail, &outcome.value_repr, &outcome.message}) {
    text += *place + "\n";
  }
  if (outcome.error) text += outcome.error->message + "\n" + outcome.error->traceback + "\n";
  AddText(outcome.value, text);
  return text;
}

}  // namespace glovebox::audit

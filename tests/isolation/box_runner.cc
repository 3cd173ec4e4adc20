#include "box_runner.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "audit/box_target.h"
#include "audit/cage.h"
#include "executor/local_executor.h"

namespace glovebox::isolation {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kTickMs = 4;
constexpr int kLetGoMs = 100;
constexpr int kGraceMs = 10'000;  // beyond the request's own deadline: then the executor hangs

// Everything an executor does is done by its user; what the tests look at, by root.
class AsExecutorUser {
 public:
  AsExecutorUser() : user_(ExecutorUser()) {
    if (!user_) return;
    // The real uid, too: nobody limits the number of root's processes. The saved one leads back.
    CHECK(setresgid(*user_, *user_, 0) == 0 && setresuid(*user_, *user_, 0) == 0);
    // A change of uid hides /proc files even from their owner; no normal user's process starts so.
    CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
  }
  ~AsExecutorUser() {
    if (user_) CHECK(setresuid(0, 0, 0) == 0 && setresgid(0, 0, 0) == 0);
  }
  AsExecutorUser(const AsExecutorUser&) = delete;
  AsExecutorUser& operator=(const AsExecutorUser&) = delete;

 private:
  const std::optional<uid_t> user_;
};

std::string Shortened(const std::string& text) {
  return text.size() <= 300 ? text : text.substr(0, 300) + "...";
}

Outcome Broken(const std::string& why) {
  Outcome outcome;
  outcome.status = ExecutionStatus::kSetupFailed;
  outcome.message = why;
  return outcome;
}

}  // namespace

BoxRunner::BoxRunner() = default;
BoxRunner::~BoxRunner() = default;

Executor* BoxRunner::ExecutorFor(sandbox::Walls walls) {
  std::unique_ptr<Executor>& slot = executors_[walls.bits()];
  if (slot != nullptr) return slot.get();
  LocalExecutorOptions options;
  options.zygote_program = ZygoteProgram();
  options.kinds = {{.name = "python", .preimports = {"ctypes", "mmap", "socket"}}};
  options.walls = walls;
  options.allow_degraded = WithoutUserNamespaces() && ExecutorUser();
  if (!ContainerRuntime().empty()) {
    options.containers = ContainerTierOptions{ContainerRuntime(), "", 2};
    options.on_containers = [this](const ContainerTierReport& report) { problem_ = report.reason; };
    options.fill_at_start = true;
  }
  const AsExecutorUser user;
  Result<std::unique_ptr<Executor>> made = CreateLocalExecutor(context_, std::move(options));
  if (!made.ok()) {
    problem_ = made.error().message();
    return nullptr;
  }
  slot = std::move(made).value();
  return slot.get();
}

bool BoxRunner::RunUntil(const std::function<bool()>& done, int timeout_ms,
                         const std::function<void()>& tick) {
  const steady_clock::time_point end = steady_clock::now() + milliseconds(timeout_ms);
  while (!done()) {
    if (steady_clock::now() > end) return false;
    context_.restart();
    {
      const AsExecutorUser user;
      context_.run_one_for(milliseconds(kTickMs));
    }
    if (context_.stopped()) std::this_thread::sleep_for(milliseconds(kTickMs));  // nothing to do
    if (tick) tick();
  }
  return true;
}

void BoxRunner::Clear() {
  if (!executors_.empty()) RunUntil([] { return false; }, kLetGoMs);
  Drop();
}

void BoxRunner::Drop() {
  const AsExecutorUser user;
  executors_.clear();
  ++generation_;
}

Outcome BoxRunner::Run(sandbox::Walls walls, ExecutionRequest request,
                       const std::function<void()>& tick) {
  Executor* executor = ExecutorFor(walls);
  if (executor == nullptr) return Broken("no executor: " + problem_);
  const int timeout_ms = static_cast<int>(request.limits.wall_ms_max) + kGraceMs;
  request.use_container = !ContainerRuntime().empty();
  // Owned by the handler too: a late answer must not touch a dead stack frame.
  auto answer = std::make_shared<std::optional<Outcome>>();
  const std::shared_ptr<Execution> execution = [&] {
    const AsExecutorUser user;
    return executor->Start(std::move(request), nullptr,
                           [answer](Outcome outcome) { *answer = std::move(outcome); });
  }();
  if (RunUntil([&] { return answer->has_value(); }, timeout_ms, tick)) return std::move(**answer);
  {
    const AsExecutorUser user;
    execution->Cancel();
  }
  RunUntil([&] { return answer->has_value(); }, 2'000, {});
  return Broken("the executor did not answer in time");
}

BoxRunner& Runner() {
  static BoxRunner runner;
  return runner;
}

std::optional<uid_t> ExecutorUser() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* text = std::getenv("GLOVEBOX_ISOLATION_UID");
  if (text == nullptr) return std::nullopt;
  return static_cast<uid_t>(std::strtoul(text, nullptr, 10));
}

bool WithoutUserNamespaces() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  return std::getenv("GLOVEBOX_ISOLATION_NO_USERNS") != nullptr;
}

std::string ContainerRuntime() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* text = std::getenv("GLOVEBOX_ISOLATION_CONTAINER");
  return text != nullptr ? text : "";
}

std::string ZygoteProgram() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* path = std::getenv("GLOVEBOX_PYTHON");
  return path == nullptr ? GLOVEBOX_PYTHON_DEFAULT : path;
}

bool AppearsIn(const Outcome& outcome, const std::string& text) {
  return EverythingIn(outcome).find(text) != std::string::npos;
}

std::string Summary(const Outcome& outcome) {
  std::string text = std::string(StatusName(outcome.status));
  if (outcome.exit_code) text += ", exit " + std::to_string(*outcome.exit_code);
  if (outcome.signal) text += ", signal " + std::to_string(*outcome.signal);
  text += ", " + std::to_string(outcome.wall_seconds) + " s";
  for (const std::string& limit : outcome.limits_hit) text += ", limit " + limit;
  if (!outcome.message.empty()) text += ", message: " + Shortened(outcome.message);
  if (outcome.error) text += ", " + outcome.error->type + ": " + Shortened(outcome.error->message);
  if (!outcome.stdout_stream.text.empty()) {
    text += "\n  stdout: " + Shortened(outcome.stdout_stream.text);
  }
  if (!outcome.stderr_stream.text.empty()) {
    text += "\n  stderr: " + Shortened(outcome.stderr_stream.text);
  }
  return text;
}

}  // namespace glovebox::isolation

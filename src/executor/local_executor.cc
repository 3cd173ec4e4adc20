#include "executor/local_executor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "container/containers.h"
#include "executor/box_pool.h"
#include "executor/box_run.h"
#include "executor/container_pool.h"
#include "executor/execution_id.h"
#include "executor/host_share.h"
#include "executor/slot_table.h"
#include "python/client/box_factory.h"
#include "sandbox/parent/call_watcher.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using sandbox::Wall;

// Used boxes are cleared away and new ones made when no request has come or ended for so long: the
// answer goes first, and so does a client that asks again at once. On two CPUs a call that meets a
// birth takes three times as long as one that does not.
constexpr auto kQuiet = std::chrono::milliseconds(10);
// But sooner with so many used boxes, or when less than one in so many still waits, so that a
// client that never rests does not run out of them.
constexpr std::size_t kParkedMax = 8;
constexpr std::size_t kLowShare = 4;
constexpr auto kIdle = std::chrono::minutes(2);  // then one waiting box of each kind is enough
constexpr std::size_t kDyingMax = 32;            // boxes whose processes take their time to end
constexpr int kHandOversMax = 3;  // of one request, to boxes that died before reading

// By then most programs have ended. The others get their clocks, all at once: each timer that is
// set costs a call several microseconds.
constexpr auto kAttendAfter = std::chrono::milliseconds(2);

// In the words clients of container modes look for. Nothing weaker is run instead.
constexpr char kNoContainer[] = "Container runtime not available: ";
constexpr char kContainersOff[] =
    "container mode is off; the operator turns it on with SANDBOX_ENABLE_CONTAINER_MODE=true. "
    "Nothing was run. Without use_container the code runs in a box with its own user, root, "
    "namespaces, Landlock rules, system-call filter and memory limit";

// More than one process of a zygote makes boxes where several CPUs can: each of them is busy with
// one birth at a time. So many are as fast as the server can hand out what they make.
constexpr std::size_t kMakersMax = 4;

class LocalExecution;

// A kind of box and the requests that wait for one.
struct Line {
  std::unique_ptr<BoxSource> pool;
  bool container = false;
  std::deque<std::shared_ptr<LocalExecution>> waiting;
};

// One request on its way: waiting, or in a box.
class LocalExecution final : public Execution, public std::enable_shared_from_this<LocalExecution> {
 public:
  ExecutionRequest request;
  ExecutionObserver* observer = nullptr;
  Executor::DoneHandler done;
  Line* line = nullptr;
  Clock::time_point arrived = Clock::now();
  int hand_overs = 0;
  std::shared_ptr<BoxRun> run;     // once it has a box
  std::function<void()> withdraw;  // while it waits

  void Cancel() override {
    if (run != nullptr) {
      const std::shared_ptr<BoxRun> running = run;
      running->Cancel();
    } else if (withdraw) {
      std::exchange(withdraw, nullptr)();
    }
  }
};

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(asio::io_context& context, LocalExecutorOptions options, HostShare host,
                std::unique_ptr<sandbox::CallWatcher> watcher)
      : context_(context),
        options_(std::move(options)),
        host_(std::move(host)),
        watcher_(std::move(watcher)),
        slots_(host_, SlotsKept(options_), SlotsKept(options_) + kParkedMax + kDyingMax),
        attend_timer_(context),
        chore_timer_(context),
        idle_timer_(context),
        awake_(options_.fill_at_start) {}

  ~LocalExecutor() override {
    *alive_ = false;
    for (const std::shared_ptr<BoxRun>& run : runs_) run->Abandon();
    lines_.clear();
  }

  void AddKind(BoxKind kind, python::BoxFactory factory) {
    auto line = std::make_unique<Line>();
    line->pool = std::make_unique<BoxPool>(
        BoxPool::Means{context_, slots_, host_, watcher_.get(), options_.egress_program},
        std::move(kind), std::move(factory), options_.zygote_life, HandlersOf(line.get()));
    AddLine(std::move(line));
  }

  // From here on requests for containers are not refused for want of them.
  void AddContainers(container::Containers containers) {
    containers_.emplace(std::move(containers));
    no_containers_.clear();
  }
  // Precondition: AddContainers was called.
  Status AddContainerKind(BoxKind kind, python::BoxFactory factory) {
    auto line = std::make_unique<Line>();
    line->container = true;
    line->pool = TRY(ContainerPool::Create({context_, slots_, host_, *containers_}, std::move(kind),
                                           std::move(factory), HandlersOf(line.get())));
    AddLine(std::move(line));
    return {};
  }
  void RefuseContainers(std::string reason) { no_containers_ = std::move(reason); }
  const HostShare& host() const { return host_; }

  // The first kind's zygote starts at once; those of the others when a box of theirs is due.
  Status Open() {
    TRY(lines_.front()->pool->Open());
    ArmChores();
    if (awake_) ArmIdle(kIdle);
    return {};
  }

  std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                   DoneHandler done) override {
    auto execution = std::make_shared<LocalExecution>();
    execution->request = std::move(request);
    execution->observer = observer;
    execution->done = std::move(done);
    execution->line = FindLine(execution->request);
    if (const std::optional<Error> refusal = Refusal(*execution)) {
      Finish(execution, SetupFailed(*refusal));
      return execution;
    }
    execution->withdraw = [this, weak = std::weak_ptr(execution), alive = alive_] {
      const std::shared_ptr<LocalExecution> waiting_one = weak.lock();
      if (!*alive || waiting_one == nullptr) return;
      std::erase(waiting_one->line->waiting, waiting_one);
      Finish(waiting_one, CancelledOutcome());
    };
    WakeUp();
    execution->line->waiting.push_back(execution);
    RunNext(*execution->line);
    return execution;
  }

  ExecutorLoad load() const override { return {runs_.size() + parked_.size(), Waiting()}; }

 private:
  void AddLine(std::unique_ptr<Line> line) {
    turns_.push_back(line.get());
    lines_.push_back(std::move(line));
  }

  BoxSource::Handlers HandlersOf(Line* added) {
    BoxSource::Handlers handlers;
    handlers.waiting = [this, added] {
      RunNext(*added);
      ArmChores();
    };
    handlers.failed = [this, added](const Error& error, std::size_t requests) {
      FailWaiting(*added, error, requests);
      // Those that had no place yet try for themselves.
      asio::post(context_, [this, alive = alive_, added] {
        if (*alive) RunNext(*added);
      });
    };
    handlers.changed = [this] { ArmChores(); };
    return handlers;
  }

  // What steady work needs.
  static std::size_t SlotsKept(const LocalExecutorOptions& options) {
    std::size_t slots = options.boxes_max;
    const std::size_t containers = options.containers ? options.containers->warm_boxes : 0;
    for (const BoxKind& kind : options.kinds) slots += 2 * (kind.warm_boxes + containers);
    return slots;
  }

  static Outcome CancelledOutcome() {
    Outcome outcome;
    outcome.status = ExecutionStatus::kCancelled;
    outcome.message = "The execution was cancelled";
    return outcome;
  }

  static Outcome SetupFailed(const Error& error) {
    Outcome outcome;
    outcome.message = error.message();
    return outcome;
  }

  Line* FindLine(const ExecutionRequest& request) {
    for (const auto& line : lines_) {
      if (line->container != request.use_container) continue;
      if (request.kind.empty() || line->pool->name() == request.kind) return line.get();
    }
    return nullptr;
  }

  std::size_t Waiting() const {
    std::size_t waiting = 0;
    for (const auto& line : lines_) waiting += line->waiting.size();
    return waiting;
  }

  std::optional<Error> Refusal(const LocalExecution& execution) const {
    if (execution.request.use_container && !no_containers_.empty()) {
      return Error(Errc::kUnsupported, kNoContainer + no_containers_);
    }
    if (execution.line == nullptr) {
      return Error(Errc::kInvalidArgument,
                   "no kind of box is called '" + execution.request.kind + "'");
    }
    // Those that wait for a box to be made, and not for a place, are not in the queue.
    if (runs_.size() + Waiting() < options_.boxes_max + options_.queue_max) return std::nullopt;
    return Error(Errc::kLimit, "The server is busy: " + std::to_string(options_.boxes_max) +
                                   " requests run (setting `boxes`) and " +
                                   std::to_string(options_.queue_max) +
                                   " wait for their turn (setting `queue`); try again later");
  }

  // Never from inside Start or Cancel.
  void Finish(const std::shared_ptr<LocalExecution>& execution, Outcome outcome) {
    asio::post(context_, [this, alive = alive_, execution, outcome = std::move(outcome)]() mutable {
      if (*alive) Deliver(execution, std::move(outcome));
    });
  }

  void Deliver(const std::shared_ptr<LocalExecution>& execution, Outcome outcome) {
    outcome.execution_id = NewExecutionId();
    // Everything before hand-over: the wait for a place and, if none waited, the birth of the box.
    const std::chrono::duration<double> total = Clock::now() - execution->arrived;
    outcome.queue_seconds = total.count() - outcome.wall_seconds;
    const bool in_container = execution->line != nullptr && execution->line->container;
    const Line& line = in_container ? *execution->line : *lines_.front();
    const std::vector<std::string>& missing = line.pool->missing();
    outcome.missing_walls.insert(outcome.missing_walls.begin(), missing.begin(), missing.end());
    if (in_container) {
      outcome.container = containers_->runtime().Describe();
    } else {
      outcome.missing_walls.insert(outcome.missing_walls.begin(), host_.missing().begin(),
                                   host_.missing().end());
    }
    const DoneHandler done = std::exchange(execution->done, nullptr);
    execution->withdraw = nullptr;
    if (done) done(std::move(outcome));
  }

  void FailWaiting(Line& line, const Error& error, std::size_t requests) {
    for (; requests > 0 && !line.waiting.empty(); --requests) {
      Finish(line.waiting.front(), SetupFailed(error));
      line.waiting.pop_front();
    }
  }

  void RunNext() {
    // Another one first each time, so that a busy kind does not starve the others.
    std::rotate(turns_.begin(), turns_.begin() + 1, turns_.end());
    for (Line* line : turns_) RunNext(*line);
  }

  void RunNext(Line& line) {
    while (!line.waiting.empty() && runs_.size() < options_.boxes_max) {
      std::shared_ptr<Box> box = line.pool->Take();
      if (box == nullptr) break;
      const std::shared_ptr<LocalExecution> execution = std::move(line.waiting.front());
      line.waiting.pop_front();
      RunIn(box, execution);
    }
    if (line.waiting.empty()) return;
    const std::size_t places =
        options_.boxes_max - std::min<std::size_t>(runs_.size(), options_.boxes_max);
    line.pool->Want(std::min(line.waiting.size(), places),
                    GroupLimits(line.waiting.front()->request.limits));
  }

  void RunIn(const std::shared_ptr<Box>& box, const std::shared_ptr<LocalExecution>& execution) {
    ++execution->hand_overs;
    // Neither handler outlives us: the destructor abandons every run.
    BoxRun::Handlers handlers;
    handlers.done = [this, execution, box](Outcome outcome) {
      runs_.erase(std::exchange(execution->run, nullptr));
      parked_.push_back(box);
      last_event_ = Clock::now();
      Deliver(execution, std::move(outcome));
      RunNext();
      ArmChores();
    };
    handlers.unread = [this, execution] { Again(execution); };
    const auto run = std::make_shared<BoxRun>(context_, box, std::move(execution->request),
                                              execution->observer, std::move(handlers));
    execution->run = run;
    runs_.insert(run);
    last_event_ = Clock::now();
    if (Status started = run->Start(); !started) {
      run->Abandon();
      runs_.erase(std::exchange(execution->run, nullptr));
      box->Kill();
      Finish(execution, SetupFailed(started.error()));
      return;
    }
    if (!run->attended()) AttendLater();
    // Anew: not while this one runs, if it is short and alone.
    if (runs_.size() > 1) {
      ArmChores();
    } else {
      ArmQuietChores();
    }
  }

  void AttendLater() {
    if (std::exchange(attending_later_, true)) return;
    attend_timer_.expires_after(kAttendAfter);
    attend_timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
      if (!*alive || error) return;
      attending_later_ = false;
      const std::set<std::shared_ptr<BoxRun>> runs = runs_;  // whose time is up leaves them
      for (const std::shared_ptr<BoxRun>& run : runs) run->Attend();
    });
  }

  // The box died before it had read the request.
  void Again(const std::shared_ptr<LocalExecution>& execution) {
    const std::shared_ptr<BoxRun> run = std::exchange(execution->run, nullptr);
    runs_.erase(run);
    if (execution->hand_overs >= kHandOversMax) {
      return Finish(execution,
                    SetupFailed(Error(Errc::kSystem, "Box after box died while waiting")));
    }
    execution->request = run->TakeRequest();
    execution->line->waiting.push_front(execution);
    RunNext(*execution->line);
  }

  // --- what can wait: clearing away and filling up -----------------------------------------------

  std::size_t Target(const BoxSource& pool) const {
    return awake_ ? pool.warm_boxes() : std::min<std::size_t>(pool.warm_boxes(), 1);
  }

  bool Urgent() const {
    if (parked_.size() >= kParkedMax) return true;
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const auto& line) { return RunsLow(*line->pool); });
  }

  bool RunsLow(const BoxSource& pool) const { return kLowShare * pool.waiting() < Target(pool); }

  // Boxes that are made while others work are made the cheap way.
  bool InAHurry(const BoxSource& pool) const {
    return runs_.size() > 1 || (!runs_.empty() && RunsLow(pool));
  }

  // Called whenever something happened; chores begin when nothing has for a while, or are urgent.
  void ArmChores() {
    if (!Urgent()) return ArmQuietChores();
    if (std::exchange(chores_posted_, true)) return;
    asio::post(context_, [this, alive = alive_] {
      if (*alive) DoChores();
    });
  }

  // Events push the moment back, and are many: the timer is left alone, and set anew when it is
  // due too early. Setting it costs a call several microseconds.
  void ArmQuietChores() {
    if (std::exchange(chores_armed_, true)) return;
    chore_timer_.expires_at(last_event_ + kQuiet);
    chore_timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
      if (!*alive || error) return;
      chores_armed_ = false;
      if (Clock::now() < last_event_ + kQuiet) return ArmQuietChores();
      DoChores();
    });
  }

  void DoChores() {
    chores_posted_ = false;
    for (const std::shared_ptr<Box>& box : std::exchange(parked_, {})) box->Kill();
    for (const auto& line : lines_) {
      line->pool->Refill(Target(*line->pool), InAHurry(*line->pool));
    }
  }

  // A request came: the waiting boxes are worth their memory again, for a while.
  void WakeUp() {
    last_event_ = Clock::now();
    if (!std::exchange(awake_, true) || !idle_armed_) ArmIdle(kIdle);
  }

  void ArmIdle(Clock::duration after) {
    idle_armed_ = true;
    idle_timer_.expires_after(after);
    idle_timer_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
      if (!*alive || error) return;
      const Clock::duration rested = Clock::now() - last_event_;
      if (rested < kIdle) return ArmIdle(kIdle - rested);
      idle_armed_ = awake_ = false;
      DoChores();
    });
  }

  asio::io_context& context_;
  LocalExecutorOptions options_;
  // Declared in the order in which they are taken; given back the other way round.
  HostShare host_;
  std::unique_ptr<sandbox::CallWatcher> watcher_;  // null without the seccomp wall
  SlotTable slots_;
  std::optional<container::Containers> containers_;
  std::string no_containers_ = kContainersOff;  // why; empty where there are some
  std::vector<std::unique_ptr<Line>> lines_;    // at least one
  std::vector<Line*> turns_;                    // the same, in the order of their turns
  std::set<std::shared_ptr<BoxRun>> runs_;
  std::vector<std::shared_ptr<Box>> parked_;  // used, with their answers sent; to be ended
  asio::steady_timer attend_timer_;
  asio::steady_timer chore_timer_;
  asio::steady_timer idle_timer_;
  Clock::time_point last_event_ = Clock::now();  // a request came, was handed over, or ended
  bool awake_;                                   // requests have come lately
  bool attending_later_ = false;
  bool idle_armed_ = false;
  bool chores_armed_ = false;
  bool chores_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that outlive us
};

// A host's root gives every box a uid of its own, which the owner of a folder has not met.
Status CheckWritable(const FolderGrant& folder) {
  struct stat info;
  if (!folder.writable || ::stat(folder.host_path.c_str(), &info) != 0) return {};
  if ((info.st_mode & S_IWOTH) != 0) return {};
  return Error(
      Errc::kInvalidArgument,
      "boxes are to write into " + folder.host_path +
          ", and have uids of their own: give others the right to write there (chmod o+w)");
}

// None but the zygote itself where its boxes do not wait, or hardly any is made of it.
std::uint8_t MakersFor(const BoxKind& kind, const ZygoteLife& life) {
  const std::size_t useful = std::min<std::size_t>(kind.warm_boxes, life.boxes_max);
  const std::size_t cpus = std::thread::hardware_concurrency();
  return static_cast<std::uint8_t>(std::max<std::size_t>(std::min({useful, cpus, kMakersMax}), 1));
}

Result<python::BoxFactory> ContainerFactory(const LocalExecutorOptions& options,
                                            const BoxKind& kind) {
  const sandbox::HostMode mode = {sandbox::IdentitySource::kMappedRange, true};
  return python::BoxFactory::Prepare(options.zygote_program,
                                     {kind.preimports, kind.module_paths, kind.folders, true, 1},
                                     options.walls, {mode, true, true});
}

// Fails, with the fix, where the tier is not available.
Status OpenContainers(const LocalExecutorOptions& options, const std::vector<BoxKind>& kinds,
                      LocalExecutor& executor, ContainerTierReport& report) {
  if (!executor.host().has_cgroups() || ::geteuid() != 0) {
    return Error(Errc::kUnsupported,
                 "containers need root and a cgroup that holds their limits; run glovebox as root "
                 "(packaging/systemd), or leave use_container away");
  }
  python::BoxFactory first = TRY(ContainerFactory(options, kinds.front()));
  auto containers = TRY(container::Containers::Open(
      {options.containers->runtime, options.containers->image, options.zygote_program},
      first.root(), first.policy(), first.program()));
  report.runtime = containers.runtime().Describe();
  executor.AddContainers(std::move(containers));
  for (BoxKind kind : kinds) {
    kind.warm_boxes = options.containers->warm_boxes;
    TRY(executor.AddContainerKind(kind, TRY(ContainerFactory(options, kind))));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Executor>> CreateLocalExecutor(asio::io_context& context,
                                                      LocalExecutorOptions options) {
  CHECK(!options.kinds.empty());
  HostShare host =
      TRY(HostShare::Take({options.walls, options.allow_degraded, options.cgroup_parent}));
  if (options.on_degraded && host.mode().degraded()) options.on_degraded(host.missing());
  std::vector<python::BoxFactory> factories;
  for (const BoxKind& kind : options.kinds) {
    python::BoxContents contents = {kind.preimports, kind.module_paths, kind.folders,
                                    kind.warm_boxes > 0, MakersFor(kind, options.zygote_life)};
    if (kind.egress) contents.network = policy::PlanBoxNetwork(*kind.egress);
    auto factory = python::BoxFactory::Prepare(options.zygote_program, contents, host.walls(),
                                               {host.mode(), !host.metered()});
    if (!factory) return std::move(factory).error().Within("boxes of kind '" + kind.name + "'");
    factories.push_back(std::move(*factory));
    if (!host.mode().own_uids()) continue;
    for (const FolderGrant& folder : kind.folders) TRY(CheckWritable(folder));
  }
  std::unique_ptr<sandbox::CallWatcher> watcher;
  if (options.walls.stands(Wall::kSeccomp)) watcher = TRY(sandbox::CallWatcher::Start());
  const LocalExecutorOptions asked = options;
  const std::vector<BoxKind>& kinds = asked.kinds;
  auto executor = std::make_unique<LocalExecutor>(context, std::move(options), std::move(host),
                                                  std::move(watcher));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    executor->AddKind(kinds[i], std::move(factories[i]));
  }
  if (asked.containers) {
    ContainerTierReport report;
    report.image = asked.containers->image;
    report.warm_boxes = asked.containers->warm_boxes;
    if (Status opened = OpenContainers(asked, kinds, *executor, report); !opened) {
      report.runtime.clear();
      report.reason = opened.error().message();
      executor->RefuseContainers(report.reason);
    }
    if (asked.on_containers) asked.on_containers(report);
  }
  TRY(executor->Open());
  return std::unique_ptr<Executor>(std::move(executor));
}

}  // namespace glovebox

#include "executor/local_executor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include "executor/box_run.h"
#include "executor/execution_id.h"
#include "executor/host_share.h"
#include "python/client/box_factory.h"
#include "python/client/zygote_client.h"
#include "sandbox/parent/call_watcher.h"
#include "sandbox/parent/cgroup.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using sandbox::Wall;

// Boxes of one kind, all forked from one zygote, and the requests that wait for one.
struct Workshop {
  std::string name;
  python::BoxFactory factory;
  std::vector<std::string> tmpfs;  // of every box, as it names them
  std::unique_ptr<python::ZygoteClient> zygote;
  bool ready = false;
  std::deque<std::shared_ptr<class LocalExecution>> waiting;
};

// One request on its way: waiting, or in a box.
class LocalExecution final : public Execution, public std::enable_shared_from_this<LocalExecution> {
 public:
  ExecutionRequest request;
  ExecutionObserver* observer = nullptr;
  Executor::DoneHandler done;
  Workshop* workshop = nullptr;
  Clock::time_point arrived = Clock::now();
  bool retried = false;
  std::shared_ptr<BoxRun> run;     // once it has a box
  std::function<void()> withdraw;  // while it waits

  void Cancel() override {
    if (run != nullptr) {
      run->Cancel();
    } else if (withdraw) {
      std::exchange(withdraw, nullptr)();
    }
  }
};

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(asio::io_context& context, LocalExecutorOptions options,
                std::vector<std::unique_ptr<Workshop>> workshops, HostShare host,
                std::unique_ptr<sandbox::CallWatcher> watcher)
      : context_(context),
        options_(std::move(options)),
        host_(std::move(host)),
        watcher_(std::move(watcher)),
        workshops_(std::move(workshops)) {}

  ~LocalExecutor() override {
    *alive_ = false;
    for (const auto& [slot, run] : runs_) run->Abandon();
    // The zygotes' death ends every box; only then can their cgroups be removed.
    for (const auto& workshop : workshops_) workshop->zygote.reset();
  }

  // Of the kind that most requests are for. The others get theirs with their first request.
  Status StartFirstZygote() { return StartZygote(*workshops_.front()); }

  std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                   DoneHandler done) override {
    auto execution = std::make_shared<LocalExecution>();
    execution->request = std::move(request);
    execution->observer = observer;
    execution->done = std::move(done);
    execution->workshop = FindWorkshop(execution->request.kind);
    if (execution->workshop == nullptr) {
      Finish(execution,
             SetupFailed(Error(Errc::kInvalidArgument,
                               "no kind of box is called '" + execution->request.kind + "'")));
      return execution;
    }
    execution->withdraw = [this, weak = std::weak_ptr(execution), alive = alive_] {
      const std::shared_ptr<LocalExecution> waiting_one = weak.lock();
      if (!*alive || waiting_one == nullptr) return;
      std::erase(waiting_one->workshop->waiting, waiting_one);
      Finish(waiting_one, CancelledOutcome());
    };
    execution->workshop->waiting.push_back(execution);
    asio::post(context_, [this, alive = alive_] {
      if (*alive) RunNext();
    });
    return execution;
  }

  ExecutorLoad load() const override {
    std::size_t waiting = 0;
    for (const auto& workshop : workshops_) waiting += workshop->waiting.size();
    return {slots_in_use_, waiting};
  }

 private:
  Workshop* FindWorkshop(const std::string& kind) {
    if (kind.empty()) return workshops_.front().get();
    for (const auto& workshop : workshops_) {
      if (workshop->name == kind) return workshop.get();
    }
    return nullptr;
  }

  Status StartZygote(Workshop& workshop) {
    workshop.ready = false;
    sandbox::SpawnRequest spawn = workshop.factory.ZygoteSpawn(host_.uids());
    spawn.cgroup_file = host_.zygote_cgroup_file();
    Result<std::unique_ptr<python::ZygoteClient>> zygote = python::ZygoteClient::Start(
        context_, std::move(spawn), workshop.factory.setup(),
        [this, &workshop](Status ready) { OnZygoteReady(workshop, std::move(ready)); },
        [this, &workshop] { OnZygoteDeath(workshop); });
    if (!zygote) return std::move(zygote).error();
    workshop.zygote = std::move(*zygote);
    return {};
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

  // Never from inside Start or Cancel.
  void Finish(const std::shared_ptr<LocalExecution>& execution, Outcome outcome) {
    asio::post(context_, [this, alive = alive_, execution, outcome = std::move(outcome)]() mutable {
      if (*alive) Deliver(execution, std::move(outcome));
    });
  }

  void Deliver(const std::shared_ptr<LocalExecution>& execution, Outcome outcome) {
    outcome.execution_id = NewExecutionId();
    // Everything before hand-over: the wait for a place and the birth of the box.
    const std::chrono::duration<double> total = Clock::now() - execution->arrived;
    outcome.queue_seconds = total.count() - outcome.wall_seconds;
    const std::vector<std::string>& missing = workshops_.front()->factory.missing();
    outcome.missing_walls.insert(outcome.missing_walls.begin(), missing.begin(), missing.end());
    outcome.missing_walls.insert(outcome.missing_walls.begin(), host_.missing().begin(),
                                 host_.missing().end());
    const DoneHandler done = std::exchange(execution->done, nullptr);
    execution->withdraw = nullptr;
    if (done) done(std::move(outcome));
  }

  void OnZygoteReady(Workshop& workshop, Status ready) {
    if (ready) {
      workshop.ready = true;
      RunNext();
      return;
    }
    FailWaiting(workshop, std::move(ready).error().Within("starting Python"));
  }

  void FailWaiting(Workshop& workshop, const Error& error) {
    const auto waiting = std::exchange(workshop.waiting, {});
    for (const auto& execution : waiting) Finish(execution, SetupFailed(error));
  }

  // Its boxes died with it and report so themselves. The next request starts a new one.
  void OnZygoteDeath(Workshop& workshop) {
    workshop.ready = false;
    asio::post(context_, [this, &workshop, alive = alive_] {
      if (!*alive) return;
      workshop.zygote.reset();
      RunNext();
    });
  }

  void RunNext() {
    for (const auto& workshop : workshops_) RunNext(*workshop);
  }

  void RunNext(Workshop& workshop) {
    if (workshop.zygote == nullptr && !workshop.waiting.empty()) {
      if (Status started = StartZygote(workshop); !started) FailWaiting(workshop, started.error());
    }
    while (workshop.ready && !workshop.waiting.empty() && slots_in_use_ < options_.boxes_max) {
      const std::shared_ptr<LocalExecution> execution = workshop.waiting.front();
      workshop.waiting.pop_front();
      if (Status started = RunInBox(execution); !started) {
        Finish(execution, SetupFailed(started.error()));
      }
    }
  }

  Result<BoxPlace*> TakeSlot() {
    if (free_slots_.empty()) {
      const auto number = static_cast<std::uint32_t>(slots_.size() + 1);
      auto slot = std::make_unique<BoxPlace>(TRY(host_.MakePlace(number)));
      free_slots_.push_back(slot.get());
      slots_.push_back(std::move(slot));
    }
    // The one that has rested longest: its last box is the most thoroughly gone.
    BoxPlace* slot = free_slots_.front();
    free_slots_.pop_front();
    ++slots_in_use_;
    return slot;
  }

  void ReturnSlot(BoxPlace* slot) {
    --slots_in_use_;
    free_slots_.push_back(slot);
    RunNext();
  }

  // Tier B: the limit is to hold, and no cgroup holds it.
  const std::vector<std::string>* MeteredTmpfs(const Workshop& workshop) const {
    return host_.metered() ? &workshop.tmpfs : nullptr;
  }

  Status PreparePlace(BoxPlace& place, ExecutionRequest& request) {
    const ExecutionLimits& limits = request.limits;
    if (place.cgroup) {
      TRY(place.cgroup->Prepare({limits.memory_bytes_max, limits.processes_max, 1.0}));
    }
    TRY(host_.Refresh(place));
    const auto added = host_.Environment(place);
    request.environment.insert(request.environment.begin(), added.begin(), added.end());
    return {};
  }

  Status RunInBox(const std::shared_ptr<LocalExecution>& execution) {
    Workshop& workshop = *execution->workshop;
    BoxChannels channels = TRY(BoxChannels::Make());
    BoxPlace* slot = TRY(TakeSlot());
    sandbox::CgroupSlot* cgroup = slot->cgroup ? &*slot->cgroup : nullptr;
    if (Status prepared = PreparePlace(*slot, execution->request); !prepared) {
      ReturnSlot(slot);
      return prepared;
    }
    const std::vector<int> box_fds =
        channels.box.List(cgroup != nullptr ? cgroup->join_fds() : std::vector<int>());
    // Neither handler outlives us: the destructor abandons every run.
    BoxRun::Handlers handlers;
    handlers.done = [this, execution](Outcome outcome) {
      execution->run = nullptr;
      Deliver(execution, std::move(outcome));
    };
    handlers.gone = [this, slot] {
      runs_.erase(slot);
      ReturnSlot(slot);
    };
    execution->run = std::make_shared<BoxRun>(
        context_, std::move(execution->request), std::move(channels.server),
        BoxRun::Means{cgroup, watcher_.get(), MeteredTmpfs(workshop),
                      slot->folder.empty() ? nullptr : &slot->folder},
        execution->observer, std::move(handlers));
    runs_.emplace(slot, execution->run);
    execution->run->Begin();
    workshop.zygote->SpawnBox(
        {host_.BoxUid(*slot), box_fds, cgroup != nullptr ? cgroup->birth_fd() : -1,
         host_.BoxCpu(*slot), slot->folder},
        [this, execution, run = execution->run, slot](Result<UniqueFd> pidfd) {
          if (pidfd || !Retry(execution, *run, slot)) run->OnBorn(std::move(pidfd));
        });
    return {};
  }

  // A request whose box was never born, because the zygote died first, gets another one, once.
  bool Retry(const std::shared_ptr<LocalExecution>& execution, BoxRun& run, BoxPlace* slot) {
    if (execution->workshop->ready || execution->retried || run.over()) return false;
    execution->retried = true;
    execution->request = run.TakeRequest();
    run.Abandon();
    execution->run = nullptr;
    execution->workshop->waiting.push_front(execution);
    runs_.erase(slot);
    ReturnSlot(slot);
    return true;
  }

  asio::io_context& context_;
  LocalExecutorOptions options_;
  // Declared in the order in which they are taken; given back the other way round.
  HostShare host_;
  std::unique_ptr<sandbox::CallWatcher> watcher_;  // null without the seccomp wall
  std::vector<std::unique_ptr<BoxPlace>> slots_;
  std::deque<BoxPlace*> free_slots_;
  std::uint32_t slots_in_use_ = 0;
  std::vector<std::unique_ptr<Workshop>> workshops_;            // at least one
  std::map<BoxPlace*, std::shared_ptr<BoxRun>> runs_;           // every box that is not gone
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

Result<std::unique_ptr<Workshop>> MakeWorkshop(const LocalExecutorOptions& options,
                                               const BoxKind& kind, const HostShare& host) {
  auto factory = python::BoxFactory::Prepare(options.zygote_program,
                                             {kind.preimports, kind.module_paths, kind.folders},
                                             host.walls(), {host.mode(), !host.metered()});
  if (!factory) return std::move(factory).error().Within("boxes of kind '" + kind.name + "'");
  std::vector<std::string> tmpfs;
  for (const wire::TmpfsSetup& item : factory->setup().tmpfs) tmpfs.push_back(item.path);
  return std::unique_ptr<Workshop>(
      new Workshop{kind.name, std::move(*factory), std::move(tmpfs), nullptr, false, {}});
}

}  // namespace

Result<std::unique_ptr<Executor>> CreateLocalExecutor(asio::io_context& context,
                                                      LocalExecutorOptions options) {
  CHECK(!options.kinds.empty());
  HostShare host =
      TRY(HostShare::Take({options.walls, options.allow_degraded, options.cgroup_parent}));
  if (options.on_degraded && host.mode().degraded()) options.on_degraded(host.missing());
  std::vector<std::unique_ptr<Workshop>> workshops;
  for (const BoxKind& kind : options.kinds) {
    workshops.push_back(TRY(MakeWorkshop(options, kind, host)));
    if (!host.mode().own_uids()) continue;
    for (const FolderGrant& folder : kind.folders) TRY(CheckWritable(folder));
  }
  std::unique_ptr<sandbox::CallWatcher> watcher;
  if (options.walls.stands(Wall::kSeccomp)) watcher = TRY(sandbox::CallWatcher::Start());
  auto executor = std::make_unique<LocalExecutor>(context, std::move(options), std::move(workshops),
                                                  std::move(host), std::move(watcher));
  TRY(executor->StartFirstZygote());
  return std::unique_ptr<Executor>(std::move(executor));
}

}  // namespace glovebox

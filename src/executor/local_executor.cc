#include "executor/local_executor.h"

#include <unistd.h>

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include "executor/box_run.h"
#include "executor/execution_id.h"
#include "python/client/box_factory.h"
#include "python/client/zygote_client.h"
#include "sandbox/parent/call_watcher.h"
#include "sandbox/parent/cgroup.h"
#include "sandbox/parent/leftovers.h"
#include "sandbox/parent/uid_range.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using sandbox::Wall;

// Our cgroups, and the note that tells a successor of them if we are killed. The note goes last.
struct HostCgroups {
  sandbox::HostNote note;
  sandbox::CgroupTree tree;
};

// What a box occupies on the host: one uid of our range and, when that wall stands, its cgroups.
// Used by one box at a time, then by the next.
struct Slot {
  std::uint32_t number;  // the uid, too: 0 is the zygote's
  std::optional<sandbox::CgroupSlot> cgroup;
};

// One request on its way: waiting, or in a box.
class LocalExecution final : public Execution, public std::enable_shared_from_this<LocalExecution> {
 public:
  ExecutionRequest request;
  ExecutionObserver* observer = nullptr;
  Executor::DoneHandler done;
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
  LocalExecutor(asio::io_context& context, LocalExecutorOptions options, python::BoxFactory factory,
                std::optional<sandbox::UidRange> uids, std::optional<HostCgroups> cgroups,
                std::unique_ptr<sandbox::CallWatcher> watcher)
      : context_(context),
        options_(std::move(options)),
        factory_(std::move(factory)),
        uids_(std::move(uids)),
        cgroups_(std::move(cgroups)),
        watcher_(std::move(watcher)) {
    for (const wire::TmpfsSetup& tmpfs : factory_.setup().tmpfs) tmpfs_.push_back(tmpfs.path);
  }

  ~LocalExecutor() override {
    *alive_ = false;
    for (const auto& [slot, run] : runs_) run->Abandon();
    // The zygote's death ends every box; only then can their cgroups be removed.
    zygote_.reset();
  }

  Status StartZygote() {
    zygote_ready_ = false;
    Result<std::unique_ptr<python::ZygoteClient>> zygote = python::ZygoteClient::Start(
        context_, factory_.ZygoteSpawn(uids_), factory_.setup(),
        [this](Status ready) { OnZygoteReady(std::move(ready)); }, [this] { OnZygoteDeath(); });
    if (!zygote) return std::move(zygote).error();
    zygote_ = std::move(*zygote);
    return {};
  }

  std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                   DoneHandler done) override {
    auto execution = std::make_shared<LocalExecution>();
    execution->request = std::move(request);
    execution->observer = observer;
    execution->done = std::move(done);
    execution->withdraw = [this, weak = std::weak_ptr(execution), alive = alive_] {
      const std::shared_ptr<LocalExecution> waiting_one = weak.lock();
      if (!*alive || waiting_one == nullptr) return;
      std::erase(waiting_, waiting_one);
      Finish(waiting_one, CancelledOutcome());
    };
    waiting_.push_back(execution);
    asio::post(context_, [this, alive = alive_] {
      if (*alive) RunNext();
    });
    return execution;
  }

  ExecutorLoad load() const override { return {slots_in_use_, waiting_.size()}; }

 private:
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
    outcome.missing_walls.insert(outcome.missing_walls.begin(), factory_.missing().begin(),
                                 factory_.missing().end());
    const DoneHandler done = std::exchange(execution->done, nullptr);
    execution->withdraw = nullptr;
    if (done) done(std::move(outcome));
  }

  void OnZygoteReady(Status ready) {
    if (ready) {
      zygote_ready_ = true;
      RunNext();
      return;
    }
    const Error error = std::move(ready).error().Within("starting Python");
    std::deque<std::shared_ptr<LocalExecution>> waiting = std::exchange(waiting_, {});
    for (const auto& execution : waiting) Finish(execution, SetupFailed(error));
  }

  // Its boxes died with it and report so themselves. The next request starts a new one.
  void OnZygoteDeath() {
    zygote_ready_ = false;
    asio::post(context_, [this, alive = alive_] {
      if (!*alive) return;
      zygote_.reset();
      RunNext();
    });
  }

  void RunNext() {
    if (zygote_ == nullptr && !waiting_.empty()) {
      if (Status started = StartZygote(); !started) {
        std::deque<std::shared_ptr<LocalExecution>> waiting = std::exchange(waiting_, {});
        for (const auto& execution : waiting) Finish(execution, SetupFailed(started.error()));
      }
    }
    while (zygote_ready_ && !waiting_.empty() && slots_in_use_ < options_.boxes_max) {
      const std::shared_ptr<LocalExecution> execution = waiting_.front();
      waiting_.pop_front();
      if (Status started = RunInBox(execution); !started) {
        Finish(execution, SetupFailed(started.error()));
      }
    }
  }

  Result<Slot*> TakeSlot() {
    if (free_slots_.empty()) {
      const auto number = static_cast<std::uint32_t>(slots_.size() + 1);
      auto slot = std::make_unique<Slot>(Slot{number, std::nullopt});
      if (cgroups_) slot->cgroup.emplace(TRY(cgroups_->tree.MakeSlot(number)));
      free_slots_.push_back(slot.get());
      slots_.push_back(std::move(slot));
    }
    // The one that has rested longest: its last box is the most thoroughly gone.
    Slot* slot = free_slots_.front();
    free_slots_.pop_front();
    ++slots_in_use_;
    return slot;
  }

  void ReturnSlot(Slot* slot) {
    --slots_in_use_;
    free_slots_.push_back(slot);
    RunNext();
  }

  // Tier B: the limit is to hold, and no cgroup holds it.
  const std::vector<std::string>* MeteredTmpfs() const {
    return options_.walls.stands(Wall::kCgroup) && !cgroups_ ? &tmpfs_ : nullptr;
  }

  Status RunInBox(const std::shared_ptr<LocalExecution>& execution) {
    BoxChannels channels = TRY(BoxChannels::Make());
    Slot* slot = TRY(TakeSlot());
    sandbox::CgroupSlot* cgroup = slot->cgroup ? &*slot->cgroup : nullptr;
    if (cgroup != nullptr) {
      const ExecutionLimits& limits = execution->request.limits;
      Status prepared = cgroup->Prepare({limits.memory_bytes_max, limits.processes_max, 1.0});
      if (!prepared) {
        ReturnSlot(slot);
        return prepared;
      }
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
    execution->run = std::make_shared<BoxRun>(context_, std::move(execution->request),
                                              std::move(channels.server),
                                              BoxRun::Means{cgroup, watcher_.get(), MeteredTmpfs()},
                                              execution->observer, std::move(handlers));
    runs_.emplace(slot, execution->run);
    execution->run->Begin();
    zygote_->SpawnBox(uids_ ? slot->number : 0, box_fds,
                      cgroup != nullptr ? cgroup->birth_fd() : -1,
                      [this, execution, run = execution->run, slot](Result<UniqueFd> pidfd) {
                        if (pidfd || !Retry(execution, *run, slot)) run->OnBorn(std::move(pidfd));
                      });
    return {};
  }

  // A request whose box was never born, because the zygote died first, gets another one, once.
  bool Retry(const std::shared_ptr<LocalExecution>& execution, BoxRun& run, Slot* slot) {
    if (zygote_ready_ || execution->retried || run.over()) return false;
    execution->retried = true;
    execution->request = run.TakeRequest();
    run.Abandon();
    execution->run = nullptr;
    waiting_.push_front(execution);
    runs_.erase(slot);
    ReturnSlot(slot);
    return true;
  }

  asio::io_context& context_;
  LocalExecutorOptions options_;
  python::BoxFactory factory_;
  // Declared in the order in which they are taken; given back the other way round.
  std::optional<sandbox::UidRange> uids_;  // none: every box has our own uid, in its own namespace
  std::optional<HostCgroups> cgroups_;
  std::unique_ptr<sandbox::CallWatcher> watcher_;  // null without the seccomp wall
  std::vector<std::string> tmpfs_;                 // of every box, as it names them
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<Slot*> free_slots_;
  std::uint32_t slots_in_use_ = 0;
  std::unique_ptr<python::ZygoteClient> zygote_;
  bool zygote_ready_ = false;
  std::deque<std::shared_ptr<LocalExecution>> waiting_;
  std::map<Slot*, std::shared_ptr<BoxRun>> runs_;               // every box that is not gone
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that outlive us
};

}  // namespace

Result<std::unique_ptr<Executor>> CreateLocalExecutor(asio::io_context& context,
                                                      LocalExecutorOptions options) {
  // A normal user has one uid to give and no cgroups of its own.
  const bool privileged = ::geteuid() == 0;
  const bool metered = options.walls.stands(Wall::kCgroup) && !privileged;
  python::BoxFactory factory = TRY(python::BoxFactory::Prepare(
      options.zygote_program, options.preimports, options.walls, !metered));
  std::optional<sandbox::UidRange> uids;
  std::optional<HostCgroups> cgroups;
  if (privileged) {
    uids.emplace(TRY(sandbox::UidRange::Take(sandbox::kLockFolder)));
    TRY(sandbox::SweepDeadServers(sandbox::kLockFolder, *uids));
    if (options.walls.stands(Wall::kCgroup)) {
      const sandbox::CgroupLayout layout = sandbox::DetectCgroupLayout();
      sandbox::HostNote note = TRY(sandbox::HostNote::Write(
          sandbox::kLockFolder, *uids, sandbox::CgroupTree::BranchesOf(layout, uids->index())));
      cgroups.emplace(
          HostCgroups{std::move(note), TRY(sandbox::CgroupTree::Create(layout, uids->index()))});
    }
  }
  std::unique_ptr<sandbox::CallWatcher> watcher;
  if (options.walls.stands(Wall::kSeccomp)) watcher = TRY(sandbox::CallWatcher::Start());
  auto executor =
      std::make_unique<LocalExecutor>(context, std::move(options), std::move(factory),
                                      std::move(uids), std::move(cgroups), std::move(watcher));
  TRY(executor->StartZygote());
  return std::unique_ptr<Executor>(std::move(executor));
}

}  // namespace glovebox

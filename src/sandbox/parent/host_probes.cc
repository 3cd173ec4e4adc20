#include "sandbox/parent/host_probes.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "sandbox/compile/filters.h"
#include "sandbox/compile/landlock_rules.h"
#include "sandbox/compile/python_box.h"
#include "sandbox/compile/root_layout.h"
#include "sandbox/parent/call_watcher.h"
#include "sandbox/parent/cgroup.h"
#include "sandbox/parent/leftovers.h"
#include "sandbox/parent/probe_run.h"
#include "sandbox/parent/spawn.h"
#include "sandbox/parent/uid_range.h"

namespace glovebox::sandbox {
namespace {

// The uids a box's zygote would get: a range of our own as root, else just ours.
struct Ids {
  std::optional<UidRange> range;
  ProbeIds ids = {::geteuid(), ::getegid(), 1};
};

bool HasUidRanges() { return ::geteuid() == 0 && UidRangesAreMapped(); }

Result<Ids> TakeIds() {
  Ids ids;
  if (!HasUidRanges()) return ids;
  ids.range.emplace(TRY(UidRange::Take(kLockFolder)));
  ids.ids = {ids.range->base(), ids.range->base(), kUidsPerRange};
  return ids;
}

// `plan` in a child of its own, in new `namespaces` the way a box has them: in a user namespace,
// or, where root has none, by a real change of uid. The error is that of the first way.
Status TryInNamespaces(std::uint64_t namespaces, ProbePlan plan) {
  const Ids ids = TRY(TakeIds());
  Status mapped = ProbeInUserNamespace(namespaces, ids.ids, plan);
  if (mapped || !ids.range) return mapped;
  if (plan.act == ProbeAct::kIdentity) {
    plan.act = ProbeAct::kHostUid;
    plan.host_uid = ids.range->base();
    plan.kept_capabilities = kZygoteCapabilities;
  }
  return ProbeWithoutUserNamespace(namespaces, plan) ? Status() : std::move(mapped);
}

Status TryPlain(const ProbePlan& plan) { return ProbeWithoutUserNamespace(0, plan); }

Status TryRoot(const std::string& zygote_program) {
  constexpr char kProgram[] = "/usr/libexec/glovebox-python";
  const auto policy = TRY(PythonBoxPolicy());
  const RootLayout root =
      TRY(CompileRoot(policy, {zygote_program, kProgram, RootEntryKind::kProc}));
  const Ids ids = TRY(TakeIds());
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return Error::FromErrno("opening /dev/null", errno);
  SpawnRequest request;
  request.namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID;
  request.uid_base = ids.ids.uid_base;
  request.gid_base = ids.ids.gid_base;
  request.uid_count = ids.ids.count;
  request.root = &root;
  request.descriptors = {{null.get(), 0}, {null.get(), 1}, {null.get(), 2}};
  request.executable = kProgram;  // which ends at once: nobody talks to it
  request.arguments = {"glovebox-python"};
  const Result<Process> process = Spawn(request);
  if (process) return {};
  if (!ids.range) return process.error();
  request.namespaces &= ~std::uint64_t{CLONE_NEWUSER};
  request.host_uid = ids.range->base();
  request.kept_capabilities = kZygoteCapabilities;
  return Spawn(request) ? Status() : Status(process.error());
}

Status TryLandlock() {
  ProbePlan plan;
  plan.act = ProbeAct::kLandlock;
  const LandlockMasks masks = MasksForAbi(std::max(LandlockAbi(), 1));
  plan.landlock = {masks.fs, masks.net, masks.scoped, nullptr, 0};
  plan.readable_file = "/dev/null";
  return TryPlain(plan);
}

struct FilterResult {
  Status filter;
  Status events;
};

FilterResult Both(const Error& error) { return {error, error}; }

// The child shares our descriptors, so that its listener is ours without being sent.
FilterResult WatchFilter(const ProbePlan& plan, const ProbePipe& report) {
  Result<std::unique_ptr<CallWatcher>> watcher = CallWatcher::Start();
  if (!watcher) return Both(watcher.error());
  const Result<Process> process = CloneChild(CLONE_FILES, -1, &RunProbeChild, &plan);
  if (!process) return Both(process.error());
  std::array<pollfd, 2> waiting = {{{report.read.get(), POLLIN, 0}, {process->pidfd(), POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), kProbeTimeMaxMs);
  const std::optional<ChildFailure> first = ReadProbeRecord(report.read.get());
  if (!first || first->failed()) {
    const Status failure = first ? ToStatus(*first) : ProbeEnding(*process, report);
    return Both(failure ? Error(Errc::kInternal, "the probe said nothing") : failure.error());
  }
  const auto record = std::make_shared<CallRecord>([] {});
  UniqueFd listener(first->sys_errno);
  Status heard;
  if (listener) {
    (*watcher)->Watch(std::move(listener), record);
  } else {
    heard = Error::FromErrno("listening to refused system calls", EBUSY);
  }
  FilterResult result = {ProbeEnding(*process, report), std::move(heard)};
  if (result.filter && result.events && record->Take().events.empty()) {
    result.events = Error(Errc::kSystem, "a refused call was not told");
  }
  return result;
}

FilterResult TryFilter() {
  const auto filter = HasUidRanges() ? PythonFilter() : PythonFilterWithoutCgroup();
  const auto calls = PythonWatchedCalls();
  // One that no filter above ours refuses: its answer would come first.
  const auto refused = std::find_if(calls.begin(), calls.end(), [](const WatchedCall& call) {
    return std::string_view(call.name) == "execve";
  });
  if (filter.empty() || refused == calls.end()) {
    return Both(Error(Errc::kUnsupported, "there is no system-call filter for this processor"));
  }
  const Result<ProbePipe> report = MakeProbePipe();
  if (!report) return Both(report.error());
  ProbePlan plan;
  plan.act = ProbeAct::kFilter;
  plan.report_fd = report->write.get();
  plan.filter = filter.data();
  plan.filter_length = static_cast<std::uint16_t>(filter.size());
  plan.refused_call = static_cast<long>(refused->number);
  plan.refused_error = refused->error;
  return WatchFilter(plan, *report);
}

Status TryCgroups() {
  const UidRange range = TRY(UidRange::Take(kLockFolder));
  TRY(SweepDeadServers(kLockFolder, range));
  const CgroupLayout layout = DetectCgroupLayout();
  const HostNote note =
      TRY(HostNote::Write(kLockFolder, range, CgroupTree::BranchesOf(layout, range.index())));
  const CgroupTree tree = TRY(CgroupTree::Create(layout, range.index()));
  CgroupSlot slot = TRY(tree.MakeSlot(1));
  return slot.Prepare({.memory_bytes_max = 64u << 20, .processes_max = 16, .cpus_max = 1});
}

// As policies/box and prlimit(1) call them.
std::string LimitName(int resource) {
  switch (resource) {
    case RLIMIT_CORE: return "core";
    case RLIMIT_NOFILE: return "nofile";
    case RLIMIT_FSIZE: return "fsize";
    case RLIMIT_MEMLOCK: return "memlock";
    case RLIMIT_MSGQUEUE: return "msgqueue";
    case RLIMIT_SIGPENDING: return "sigpending";
    case RLIMIT_NPROC: return "nproc";
    case RLIMIT_NICE: return "nice";
    case RLIMIT_RTPRIO: return "rtprio";
    default: return "rlimit " + std::to_string(resource);
  }
}

// One by one, so that the error can name it.
Status TryLimits() {
  const auto policy = TRY(PythonBoxPolicy());
  for (const auto& item : policy.rlimits) {
    const LimitEntry limit = {item.resource, item.value};
    ProbePlan plan;
    plan.act = ProbeAct::kLimits;
    plan.limits = &limit;
    plan.limit_count = 1;
    if (Status tried = TryPlain(plan); !tried) {
      return std::move(tried).error().Within("limiting " + LimitName(item.resource) + " to " +
                                             std::to_string(item.value));
    }
  }
  return {};
}

}  // namespace

std::vector<ProbeResult> ProbeHost(const std::string& zygote_program) {
  const auto act = [](ProbeAct what) {
    ProbePlan plan;
    plan.act = what;
    return plan;
  };
  FilterResult filter = TryFilter();
  std::vector<ProbeResult> results = {
      {HostProbe::kIdentity, TryInNamespaces(0, act(ProbeAct::kIdentity))},
      {HostProbe::kRoot, TryRoot(zygote_program)},
      {HostProbe::kPidNamespace, TryInNamespaces(CLONE_NEWPID, act(ProbeAct::kFirstPid))},
      {HostProbe::kNetNamespace, TryInNamespaces(CLONE_NEWNET, act(ProbeAct::kExist))},
      {HostProbe::kIpcNamespace,
       TryInNamespaces(CLONE_NEWIPC | CLONE_NEWUTS, act(ProbeAct::kHostName))},
      {HostProbe::kLandlock, TryLandlock()},
      {HostProbe::kSeccomp, std::move(filter.filter)},
      {HostProbe::kCallEvents, std::move(filter.events)},
      {HostProbe::kRlimits, TryLimits()}};
  if (HasUidRanges()) results.push_back({HostProbe::kCgroups, TryCgroups()});
  return results;
}

}  // namespace glovebox::sandbox

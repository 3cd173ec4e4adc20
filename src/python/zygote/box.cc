#include "python/zygote/box.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "python/zygote/audit_hook.h"
#include "python/zygote/gate.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/rehearsal.h"
#include "sandbox/child/box_init.h"
#include "sandbox/child/enter_box.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/vfork_clone.h"
#include "sandbox/plan/walls.h"

namespace glovebox::zygote {
namespace {

using sandbox::ChildStage;

constexpr int kGateFd = 3;
constexpr int kStatusFd = 4;
constexpr int kRulesetFd = 5;

sandbox::PidScope ScopeOf(const sandbox::BoxPlan& plan) {
  if (!plan.mode.namespaces) return sandbox::PidScope::kGroup;
  const auto walls = sandbox::Walls::FromTrustedBits(plan.walls);
  return walls.stands(sandbox::Wall::kPidNamespace) ? sandbox::PidScope::kOwn
                                                    : sandbox::PidScope::kHost;
}

[[noreturn]] void FailBuild(int status_fd, const sandbox::ChildFailure& failure) {
  sandbox::StatusRecord record = {};
  record.kind = sandbox::StatusKind::kBuildFailed;
  record.failure = failure;
  sandbox::ReportStatus(status_fd, record);
  ::_exit(126);
}

[[noreturn]] void FailBuild(int status_fd, ChildStage stage, int error) {
  FailBuild(status_fd, {stage, 0, 0, error});
}

// What a box is made of.
struct Birth {
  const sandbox::BoxPlan& plan;
  const BoxDescriptors& descriptors;
  wire::Rehearsal rehearsal;
  pid_t zygote;
};

// The kernel forgets an area for restartable sequences where memory is shared, and so our parent
// had none; the C library goes by what is written there, the number of a CPU among it.
void RegisterSequencesAnew() {
  if (__rseq_size == 0) return;
  void* area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  // At least as much as the first version had, whose size the library does not count in full.
  const std::size_t size = std::max<std::size_t>(__rseq_size, 32);
  ::syscall(SYS_rseq, area, size, 0, RSEQ_SIG);
}

// PID 2 of the box, from its birth to the filter and on to the gate.
[[noreturn]] void BecomePython(const Birth& birth, int init_started_fd) {
  const auto& [plan, descriptors, rehearsal, zygote] = birth;
  RegisterSequencesAnew();
  if (ScopeOf(plan) != sandbox::PidScope::kOwn) ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (ScopeOf(plan) == sandbox::PidScope::kGroup) sandbox::LeadGroup(::getpid());
  if (!AfterFork()) FailBuild(descriptors.status_fd(), ChildStage::kFork, ECANCELED);
  // Our own program, so it needs no lock yet; and nobody answers for refused calls before the gate.
  if (rehearsal != wire::Rehearsal::kNone) {
    const bool next = rehearsal == wire::Rehearsal::kLong;
    if (!Rehearse(next ? RehearsalPlace::kNextBox : RehearsalPlace::kBox)) {
      FailBuild(descriptors.status_fd(), ChildStage::kFork, ECANCELED);
    }
  }
  if (!sandbox::AwaitInit(init_started_fd)) ::_exit(126);
  int ruleset_fd = -1;
  if (const sandbox::ChildFailure failure = sandbox::MakeRules(plan, &ruleset_fd);
      failure.failed()) {
    FailBuild(descriptors.status_fd(), failure);
  }
  // Every source lies above these: the zygote's own descriptors occupy the low numbers.
  const sandbox::DescriptorMove moves[] = {
      {descriptors.stdin_fd(), 0},          {descriptors.stdout_fd(), 1},
      {descriptors.stderr_fd(), 2},         {descriptors.gate_fd(), kGateFd},
      {descriptors.status_fd(), kStatusFd}, {ruleset_fd, kRulesetFd}};
  const std::uint16_t moved = ruleset_fd < 0 ? std::size(moves) - 1 : std::size(moves);
  if (const int error = sandbox::ArrangeDescriptors(moves, moved, moved); error != 0) {
    FailBuild(descriptors.status_fd(), ChildStage::kDescriptors, error);
  }
  if (const int error = sandbox::ClearSignalMask(); error != 0) {
    FailBuild(kStatusFd, ChildStage::kSignals, error);
  }
  int listener_fd = -1;
  if (const sandbox::ChildFailure failure = sandbox::LockPython(plan, kRulesetFd, &listener_fd);
      failure.failed()) {
    FailBuild(kStatusFd, failure);
  }
  if (plan.own_folder.path != nullptr) GrantFolder(plan.own_folder.path);
  // From here on the status pipe is init's alone.
  ::close(kStatusFd);
  ServeGate(kGateFd, sandbox::Walls::FromTrustedBits(plan.walls), UniqueFd(listener_fd));
}

// PID 1 of the box, in the zygote's memory while that waits; then a program of its own.
void BecomeInit(const void* argument) {
  const Birth& birth = *static_cast<const Birth*>(argument);
  const auto& [plan, descriptors, rehearsal, zygote] = birth;
  const sandbox::PidScope scope = ScopeOf(plan);
  if (scope == sandbox::PidScope::kGroup) {
    const int error = sandbox::AdoptOrphans(zygote);
    if (error != 0) FailBuild(descriptors.status_fd(), ChildStage::kDieWithParent, error);
  }
  if (const sandbox::ChildFailure failure = sandbox::EnterBox(plan); failure.failed()) {
    FailBuild(descriptors.status_fd(), failure);
  }
  // The kernel reaps the zygote's children; init's it does not.
  if (const int error = sandbox::ResetSignalAction(SIGCHLD); error != 0) {
    FailBuild(descriptors.status_fd(), ChildStage::kSignals, error);
  }
  int started[2];
  if (::pipe2(started, O_CLOEXEC) != 0) {
    FailBuild(descriptors.status_fd(), ChildStage::kDescriptors, errno);
  }
  const pid_t python = ::fork();
  if (python < 0) FailBuild(descriptors.status_fd(), ChildStage::kFork, errno);
  if (python == 0) {
    ::close(started[1]);
    BecomePython(birth, started[0]);
  }
  if (scope == sandbox::PidScope::kGroup) sandbox::LeadGroup(python);
  const bool hidden = sandbox::Walls::FromTrustedBits(plan.walls).stands(sandbox::Wall::kIdentity);
  const int error = sandbox::BecomeInitProgram(wire::kInitProgramFd, descriptors.status_fd(),
                                               started[1], {python, scope, hidden});
  FailBuild(descriptors.status_fd(), ChildStage::kExec, error);
}

std::vector<std::string> MountOptions(const std::vector<wire::TmpfsSetup>& all,
                                      const std::string& owner) {
  const std::string owned = ",mode=0700,uid=" + owner + ",gid=" + owner;
  std::vector<std::string> options;
  options.reserve(all.size());
  for (const wire::TmpfsSetup& tmpfs : all) {
    std::string& text = options.emplace_back("size=");
    text.append(tmpfs.size).append(",nr_inodes=").append(tmpfs.inodes).append(owned);
  }
  return options;
}

}  // namespace

BoxTemplate::BoxTemplate(const wire::ZygoteSetup& setup) : tmpfs_(setup.tmpfs) {
  for (const auto& [resource, value] : setup.rlimits) limits_.push_back({resource, value});
  for (const auto& [path, allowed] : setup.landlock.rules) {
    rules_.push_back({path.c_str(), allowed});
  }
  plan_.walls = setup.walls;
  plan_.mode = {static_cast<sandbox::IdentitySource>(setup.identity), setup.namespaces};
  plan_.own_folder.allowed = setup.own_folder_rights;
  plan_.inner_uid = setup.inner_uid;
  plan_.host_name = setup.host_name.c_str();
  plan_.work_folder = setup.work_folder.c_str();
  plan_.limits = limits_.data();
  plan_.limit_count = static_cast<std::uint16_t>(limits_.size());
  plan_.landlock = {setup.landlock.handled_fs, setup.landlock.handled_net, setup.landlock.scoped,
                    rules_.data(), static_cast<std::uint16_t>(rules_.size())};
  plan_.network = {-1, setup.network_ports.data(),
                   static_cast<std::uint16_t>(setup.network_ports.size())};
  plan_.filter = setup.filter.data();
  plan_.filter_length = static_cast<std::uint16_t>(setup.filter.size());
}

void BoxTemplate::OpenRulePaths() {
  for (sandbox::LandlockRule& rule : rules_) {
    const std::string_view path = rule.path;
    const auto covers = [path](const wire::TmpfsSetup& tmpfs) { return path == tmpfs.path; };
    if (path == "/proc" || std::any_of(tmpfs_.begin(), tmpfs_.end(), covers)) continue;
    // A path that cannot be opened is the box's to report.
    rule_paths_.emplace_back(::open(rule.path, O_PATH | O_CLOEXEC));
    rule.opened_fd = rule_paths_.back().get();
  }
}

BoxDescriptors::~BoxDescriptors() {
  for (const int fd : fds) ::close(fd);
}

Result<UniqueFd> ForkBox(const BoxTemplate& common, const wire::SpawnBox& spawn,
                         const BoxDescriptors& descriptors) {
  sandbox::BoxPlan plan = common.plan();
  const std::string owner = std::to_string(spawn.uid);
  const std::string map = std::to_string(plan.inner_uid) + " " + owner + " 1";
  plan.uid = spawn.uid;
  plan.inner_uid_map = map.c_str();
  const std::vector<std::string> options = MountOptions(common.tmpfs(), owner);
  std::vector<sandbox::FreshMount> fresh_mounts;
  fresh_mounts.reserve(options.size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    fresh_mounts.push_back({common.tmpfs()[i].path.c_str(), options[i].c_str()});
  }
  plan.fresh_mounts = fresh_mounts.data();
  plan.fresh_mount_count = static_cast<std::uint16_t>(fresh_mounts.size());
  plan.cpu = spawn.cpu;
  const std::string work_folder = spawn.folder + "/work";
  if (!spawn.folder.empty()) {
    plan.own_folder.path = spawn.folder.c_str();
    plan.work_folder = work_folder.c_str();
  }
  const std::size_t fixed = BoxDescriptors::FixedCount(spawn);
  plan.cgroup_fds = descriptors.fds.data() + fixed;
  plan.cgroup_fd_count =
      static_cast<std::uint16_t>(descriptors.fds.size() - fixed - (spawn.into_cgroup ? 1 : 0));
  if (spawn.network) plan.network.report_fd = descriptors.listener_socket_fd();

  int pidfd = -1;
  clone_args args = {};
  args.flags = CLONE_PIDFD;
  if (ScopeOf(plan) == sandbox::PidScope::kOwn) args.flags |= CLONE_NEWPID;
  if (spawn.into_cgroup) {
    args.flags |= std::uint64_t{CLONE_INTO_CGROUP};
    args.cgroup = static_cast<decltype(args.cgroup)>(descriptors.fds.back());
  }
  args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  // Not fork(), which can do neither of the above. It is safe here: we have one thread, so no lock
  // is held, and the child runs system calls only until its own fork(), which puts right whatever
  // libraries keep per process, in that fork and, as memory is shared, here.
  const Birth birth = {plan, descriptors, spawn.rehearsal, ::getpid()};
  PyOS_BeforeFork();
  const long pid = sandbox::VforkClone(args, &BecomeInit, &birth);
  const int error = errno;
  PyOS_AfterFork_Parent();
  if (pid < 0) return Error::FromErrno("cloning a box", error);
  return UniqueFd(pidfd);
}

}  // namespace glovebox::zygote

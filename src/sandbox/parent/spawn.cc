#include "sandbox/parent/spawn.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/file.h"
#include "base/pipe.h"
#include "sandbox/child/spawn_child.h"

namespace glovebox::sandbox {
namespace {

// No handler of ours may run in the child before it has its own life.
class ScopedSignalBlock {
 public:
  ScopedSignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ScopedSignalBlock(const ScopedSignalBlock&) = delete;
  ScopedSignalBlock& operator=(const ScopedSignalBlock&) = delete;
  ~ScopedSignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// A copy of each descriptor above every number the child will use, so that moving one into place
// cannot overwrite another.
struct Moves {
  std::vector<UniqueFd> copies;
  std::vector<DescriptorMove> moves;
  int first_closed = 3;
};

Result<Moves> PrepareMoves(const std::vector<std::pair<int, int>>& descriptors) {
  Moves out;
  for (const auto& [ours, theirs] : descriptors) {
    out.first_closed = std::max(out.first_closed, theirs + 1);
  }
  for (const auto& [ours, theirs] : descriptors) {
    out.copies.emplace_back(::fcntl(ours, F_DUPFD_CLOEXEC, out.first_closed));
    if (!out.copies.back()) return Error::FromErrno("duplicating a descriptor", errno);
    out.moves.push_back({out.copies.back().get(), theirs});
  }
  return out;
}

// End-of-file means the child exec'd; a record says where it failed.
Status AwaitExec(int failure_fd, const SpawnRequest& request) {
  ChildFailure failure;
  ssize_t got = 0;
  do {
    got = ::read(failure_fd, &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return {};
  if (got != sizeof(failure)) return Error(Errc::kInternal, "the child sent half a record");
  std::string act = StageName(failure.stage);
  if (request.root != nullptr &&
      (failure.stage == ChildStage::kMountSources || failure.stage == ChildStage::kRootEntry)) {
    act += " " + request.root->Describe(failure.detail);
  }
  return Error::FromErrno(act, failure.sys_errno);
}

// What containers' filters leave of clone3, whose flags they cannot read. The child resets its
// signal actions itself.
long OlderClone(std::uint64_t flags, int* pidfd) {
  const unsigned long low = static_cast<unsigned long>(flags) | CLONE_PIDFD | SIGCHLD;
  return syscall(SYS_clone, low, nullptr, pidfd, nullptr, nullptr);
}

}  // namespace

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status WriteIdMaps(pid_t pid, uid_t uid_base, gid_t gid_base, std::uint32_t count) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const auto map = [count](unsigned base) {
    return "0 " + std::to_string(base) + " " + std::to_string(count);
  };
  // Without privilege the kernel wants groups to be settled for good before it takes a map.
  if (count == 1) TRY(WriteExisting(folder + "/setgroups", "deny"));
  TRY(WriteExisting(folder + "/uid_map", map(uid_base)));
  return WriteExisting(folder + "/gid_map", map(gid_base));
}

Result<Process> CloneChild(std::uint64_t flags, int closed_fd, void (*child)(const void* plan),
                           const void* plan, int cgroup_fd) {
  int pidfd = -1;
  clone_args args = {};
  args.flags = flags | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    args.flags |= std::uint64_t{CLONE_INTO_CGROUP};
    args.cgroup = static_cast<decltype(args.cgroup)>(cgroup_fd);
  }
  const ScopedSignalBlock block;
  long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid < 0 && errno == ENOSYS && cgroup_fd < 0) pid = OlderClone(flags, &pidfd);
  if (pid < 0) return Error::FromErrno("making namespaces", errno);
  if (pid == 0) {
    if (closed_fd >= 0) syscall(SYS_close, closed_fd);
    child(plan);
    _exit(126);
  }
  return Process(static_cast<pid_t>(pid), UniqueFd(pidfd));
}

Result<Process> Spawn(const SpawnRequest& request) {
  const std::string context = "starting " + request.executable;
  const Moves moves = TRY(PrepareMoves(request.descriptors));
  Pipe failure = TRY(MakePipe());
  Pipe ready = TRY(MakePipe());
  // Out of the way of the descriptors that are moved into place.
  failure.write.reset(::fcntl(failure.write.get(), F_DUPFD_CLOEXEC, moves.first_closed));
  if (!failure.write) return Error::FromErrno("duplicating a descriptor", errno);
  const std::vector<char*> argv = Pointers(request.arguments);
  const std::vector<char*> envp = Pointers(request.environment);

  SpawnPlan plan;
  plan.failure_fd = failure.write.get();
  plan.parent_ready_fd = ready.read.get();
  // With a single uid mapped there is nothing to switch to: we are it already.
  const bool mapped = (request.namespaces & CLONE_NEWUSER) != 0;
  plan.switch_identity = mapped ? request.uid_count > 1 : request.host_uid != 0;
  plan.uid = mapped ? 0 : request.host_uid;
  plan.kept_capabilities = mapped ? 0 : request.kept_capabilities;
  CHECK(request.listener_ports.size() <= kListenersMax);
  plan.network = {request.listener_report_fd, request.listener_ports.data(),
                  static_cast<std::uint16_t>(request.listener_ports.size())};
  plan.build_root = request.root != nullptr;
  if (plan.build_root) plan.root = request.root->plan();
  plan.moves = moves.moves.data();
  plan.move_count = static_cast<std::uint16_t>(moves.moves.size());
  plan.first_closed_fd = moves.first_closed;
  plan.executable = request.executable.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();

  // The ready pipe's end of the child must be the only one: it dies with the parent alone.
  Process process = TRY(CloneChild(
      request.namespaces, ready.write.get(),
      [](const void* data) { SpawnChild(*static_cast<const SpawnPlan*>(data)); }, &plan));
  failure.write.reset();
  if ((request.namespaces & CLONE_NEWUSER) != 0) {
    Status maps = WriteIdMaps(process.pid(), request.uid_base, request.gid_base, request.uid_count);
    if (!maps) return std::move(maps).error().Within(context);
  }
  if (!request.cgroup_file.empty()) {
    Status joined = WriteExisting(request.cgroup_file, std::to_string(process.pid()));
    if (!joined) return std::move(joined).error().Within(context);
  }
  if (request.adopt) {
    Status adopted = request.adopt(process.pid());
    if (!adopted) return std::move(adopted).error().Within(context);
  }
  if (::write(ready.write.get(), "1", 1) != 1) {
    return Error::FromErrno(context + ": telling the child to go on", errno);
  }
  if (Status started = AwaitExec(failure.read.get(), request); !started) {
    return std::move(started).error().Within(context);
  }
  return process;
}

std::string StageName(ChildStage stage) {
  switch (stage) {
    case ChildStage::kNone: return "nothing";
    case ChildStage::kWaitForParent: return "waiting for the server";
    case ChildStage::kDieWithParent: return "asking to die with the server";
    case ChildStage::kSignals: return "clearing the signal mask";
    case ChildStage::kNewSession: return "leaving the terminal's session";
    case ChildStage::kMountSources: return "cloning the host's";
    case ChildStage::kCgroups: return "joining its cgroups";
    case ChildStage::kNamespaces: return "making its namespaces";
    case ChildStage::kNetwork: return "raising its network";
    case ChildStage::kRootMount: return "mounting its root";
    case ChildStage::kRootEntry: return "placing into its root";
    case ChildStage::kRootPivot: return "changing into its root";
    case ChildStage::kFreshMounts: return "mounting its own tmpfs and /proc";
    case ChildStage::kHostName: return "setting its host name";
    case ChildStage::kIdentity: return "becoming its own user";
    case ChildStage::kUserNamespace: return "entering its user namespace";
    case ChildStage::kWorkFolder: return "entering its work folder";
    case ChildStage::kKeyring: return "joining a fresh keyring";
    case ChildStage::kLimits: return "setting its limits";
    case ChildStage::kCapabilities: return "dropping capabilities";
    case ChildStage::kNoNewPrivs: return "setting no_new_privs";
    case ChildStage::kFork: return "forking Python";
    case ChildStage::kDescriptors: return "arranging descriptors";
    case ChildStage::kProcessFlags: return "setting process flags";
    case ChildStage::kLandlock: return "entering its Landlock domain";
    case ChildStage::kSeccomp: return "installing its system-call filter";
    case ChildStage::kExec: return "executing the program";
    case ChildStage::kProbe: return "proving what it was granted";
  }
  return "an unknown stage";
}

}  // namespace glovebox::sandbox

#include "sandbox/parent/spawn.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/file.h"
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

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> fds;
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) return Error::FromErrno("pipe", errno);
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

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

Status WriteIdMaps(pid_t pid, const SpawnRequest& request) {
  if ((request.namespaces & CLONE_NEWUSER) == 0) return {};
  const std::string folder = "/proc/" + std::to_string(pid);
  const auto map = [&request](unsigned base) {
    return "0 " + std::to_string(base) + " " + std::to_string(request.uid_count);
  };
  // Without privilege the kernel wants groups to be settled for good before it takes a map.
  if (request.uid_count == 1) TRY(WriteExisting(folder + "/setgroups", "deny"));
  TRY(WriteExisting(folder + "/uid_map", map(request.uid_base)));
  return WriteExisting(folder + "/gid_map", map(request.gid_base));
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

// `parents_own_fd` is closed in the child: it must die with the parent alone.
Result<Process> CloneChild(const SpawnPlan& plan, std::uint64_t namespaces, int parents_own_fd) {
  int pidfd = -1;
  clone_args args = {};
  args.flags = namespaces | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const ScopedSignalBlock block;
  const long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid < 0) return Error::FromErrno("making namespaces", errno);
  if (pid == 0) {
    syscall(SYS_close, parents_own_fd);
    SpawnChild(plan);
  }
  return Process(static_cast<pid_t>(pid), UniqueFd(pidfd));
}

}  // namespace

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
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
  plan.switch_identity = (request.namespaces & CLONE_NEWUSER) != 0 && request.uid_count > 1;
  plan.build_root = request.root != nullptr;
  if (plan.build_root) plan.root = request.root->plan();
  plan.moves = moves.moves.data();
  plan.move_count = static_cast<std::uint16_t>(moves.moves.size());
  plan.first_closed_fd = moves.first_closed;
  plan.executable = request.executable.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();

  Process process = TRY(CloneChild(plan, request.namespaces, ready.write.get()));
  failure.write.reset();
  if (Status maps = WriteIdMaps(process.pid(), request); !maps) {
    return std::move(maps).error().Within(context);
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
  }
  return "an unknown stage";
}

}  // namespace glovebox::sandbox

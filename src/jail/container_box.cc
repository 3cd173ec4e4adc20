#include "jail/container_box.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "base/pipe.h"
#include "container/program.h"
#include "sandbox/compile/root_layout.h"

namespace glovebox::jail {
namespace {

constexpr auto kDeletePatience = std::chrono::seconds(10);
constexpr char kProofProgram[] = "/glovebox-python";
constexpr std::uint32_t kOwnUid = 1000;
// What the runtime itself occupies in the group, beside the program; gVisor's kernel, in which one
// thread of the program is several tasks of the host; an engine, which stays to pass streams on.
constexpr std::uint64_t kRuntimeBytes = 32u << 20;
constexpr std::uint32_t kRuntimeTasks = 32;
constexpr std::uint64_t kKernelBytes = 64u << 20;
constexpr std::uint64_t kEngineBytes = 96u << 20;
constexpr std::uint32_t kTasksPerThread = 4;

Error Refused(const std::string& flag, const std::string& why) {
  return {Errc::kInvalidArgument,
          flag + " cannot be kept with --container: " + why + "; leave one of the two away"};
}

// To whom everything belongs that may be written; nothing where nothing may.
Result<std::optional<uid_t>> OwnerOfWritten(const Places& places) {
  std::optional<uid_t> owner;
  for (const Place& place : places.all()) {
    if (place.kind != PlaceKind::kWrite) continue;
    struct stat facts = {};
    if (::stat(place.path.c_str(), &facts) != 0) return Error::FromErrno(place.path, errno);
    if (facts.st_uid == 0) {
      return Refused(place.why, place.path +
                                    " belongs to root, and a program in a container is never root "
                                    "(chown gives it to another user)");
    }
    if (owner && *owner != facts.st_uid) {
      return Refused(place.why, "what is written there must belong to one user, and belongs to " +
                                    std::to_string(*owner) + " and " +
                                    std::to_string(facts.st_uid));
    }
    owner = facts.st_uid;
  }
  return owner;
}

bool MayRead(const struct stat& facts, uid_t uid) {
  const mode_t others = S_ISDIR(facts.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  const mode_t wanted = facts.st_uid == uid ? others << 6 : others;
  return (facts.st_mode & wanted) == wanted;
}

// A box would give its user the rights of the owner; a container leaves files as they are.
Status CheckRead(const Places& places, uid_t uid) {
  for (const Place& place : places.all()) {
    if (place.kind != PlaceKind::kRead && place.kind != PlaceKind::kProgram) continue;
    struct stat facts = {};
    if (::stat(place.path.c_str(), &facts) != 0) return Error::FromErrno(place.path, errno);
    if (MayRead(facts, uid)) continue;
    return Refused(place.why, "the permissions of " + place.path + " do not let user " +
                                  std::to_string(uid) + " read it");
  }
  return {};
}

container::ForeignProgram ProgramOf(const BoxOrder& order, const policy::BoxPolicy& policy) {
  container::ForeignProgram program;
  program.policy = policy;
  program.policy.environment.clear();
  for (const std::string& word : order.environment) {
    const std::size_t equals = word.find('=');
    program.policy.environment.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  policy::RlimitItem files;
  files.resource = RLIMIT_NOFILE;
  files.value = order.open_files_max;
  program.policy.rlimits.push_back(files);
  program.arguments = order.arguments;
  program.arguments.front() = order.executable;
  program.work_folder = order.work_folder;
  return program;
}

sandbox::CgroupLimits LimitsOf(const BoxOrder& order, const container::Runtime& runtime) {
  sandbox::CgroupLimits limits = order.limits;
  limits.memory_bytes_max += kRuntimeBytes;
  if (runtime.own_kernel()) {
    limits.memory_bytes_max += kKernelBytes;
    limits.processes_max *= kTasksPerThread;
  }
  if (runtime.podman()) limits.memory_bytes_max += kEngineBytes;
  limits.processes_max += kRuntimeTasks;
  return limits;
}

}  // namespace

Status CheckForContainer(const policy::JailPolicy& policy) {
  if (!policy.net.empty()) return Refused("--net", "a container has no way out");
  return {};
}

Result<std::unique_ptr<ContainerBox>> ContainerBox::Open(const std::string& runtime,
                                                         const std::string& launcher,
                                                         const policy::BoxPolicy& policy) {
  const sandbox::RootLayout proof =
      TRY(sandbox::CompileRoot(policy, {launcher, kProofProgram, sandbox::RootEntryKind::kProc}));
  container::ContainerOptions options;
  options.runtime = runtime;
  options.launcher = launcher;
  options.foreign = true;
  auto containers = container::Containers::Open(options, proof, policy, kProofProgram);
  if (!containers) {
    return std::move(containers).error().Within("Container runtime not available");
  }
  return std::unique_ptr<ContainerBox>(new ContainerBox(std::move(*containers)));
}

Result<RunningBox> ContainerBox::Start(const BoxOrder& order, const Places& places,
                                       const Layout& layout, const policy::BoxPolicy& policy,
                                       const HostShare& host, BoxPlace& place) {
  const container::Runtime& runtime = containers_.runtime();
  const std::optional<uid_t> owner = TRY(OwnerOfWritten(places));
  container::ForeignProgram program = ProgramOf(order, policy);
  uid_t on_host = owner.value_or(kOwnUid);
  if (runtime.own_kernel()) {
    program.uid = on_host;
  } else if (host.uids()) {
    const uid_t base = host.uids()->base();
    on_host = owner.value_or(base + host.BoxUid(place));
    program.ids = container::HostIds{base, on_host};
  } else {
    return Error(Errc::kUnsupported, runtime.name() +
                                         " needs a range of uids for --container, and none is ours "
                                         "here; `glovebox doctor` says why");
  }
  TRY(CheckRead(places, on_host));
  prepared_ = TRY(containers_.PrepareForeign(layout.root(), program));
  place_ = &place;
  TRY(place.cgroup->Prepare(LimitsOf(order, runtime)));

  Pipe input = TRY(MakePipe());
  Pipe output = TRY(MakePipe());
  Pipe error = TRY(MakePipe());
  sandbox::SpawnRequest spawn;
  spawn.executable = prepared_->run_arguments.front();
  spawn.arguments = prepared_->run_arguments;
  spawn.environment = container::ProgramEnvironment();
  spawn.descriptors = {{input.read.get(), 0}, {output.write.get(), 1}, {error.write.get(), 2}};
  spawn.adopt = [&place](pid_t pid) { return place.cgroup->Adopt(pid); };
  sandbox::Process process = TRY(sandbox::Spawn(spawn));
  UniqueFd pidfd(::fcntl(process.pidfd(), F_DUPFD_CLOEXEC, 3));
  UniqueFd status(::fcntl(process.pidfd(), F_DUPFD_CLOEXEC, 3));
  if (!pidfd || !status) return Error::FromErrno("holding on to the runtime", errno);
  RunningBox box{std::move(process),
                 std::move(pidfd),
                 std::move(input.write),
                 std::move(output.read),
                 std::move(error.read),
                 std::move(status),
                 {},
                 false};
  box.runtime = Describe();
  return box;
}

ContainerBox::~ContainerBox() {
  if (!prepared_) return;
  if (place_ != nullptr) place_->cgroup->KillAll();
  // What it leaves is swept by the next one.
  static_cast<void>(
      container::RunProgram(containers_.DeleteArguments(prepared_->id), kDeletePatience));
  containers_.Forget(prepared_->id);
}

}  // namespace glovebox::jail

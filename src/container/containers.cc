#include "container/containers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "container/docker.h"
#include "container/layer_tree.h"
#include "container/podman.h"
#include "container/program.h"
#include "sandbox/compile/python_box.h"

namespace glovebox::container {
namespace {

constexpr auto kProofPatience = std::chrono::seconds(5);
constexpr auto kDeletePatience = std::chrono::seconds(5);
constexpr auto kImportPatience = std::chrono::seconds(30);
// The uids of a trial, far from every range that somebody uses: nothing of the host is theirs.
constexpr HostIds kTrialIds = {1'999'900'000, 1'999'900'001};

// Where a container begins: its own work folder, if its policy has one.
std::string WorkFolderOf(const policy::BoxPolicy& policy) {
  static constexpr char kWork[] = "/work";
  const bool has = std::any_of(policy.tmpfs.begin(), policy.tmpfs.end(),
                               [](const policy::TmpfsItem& item) { return item.path == kWork; });
  return has ? kWork : "/";
}

// Where nothing of a layout is bound, and something is mounted all the same.
Status MakeMountPoints(const std::string& root, const policy::BoxPolicy& policy) {
  for (const char* path : {"/proc", "/dev", "/sys"}) {
    TRY(MakePlace(root, path, PlaceKind::kFolder));
  }
  for (const policy::TmpfsItem& item : policy.tmpfs) {
    TRY(MakePlace(root, item.path, PlaceKind::kFolder));
  }
  return {};
}

}  // namespace

Result<Containers> Containers::Open(const ContainerOptions& options,
                                    const sandbox::RootLayout& root,
                                    const policy::BoxPolicy& policy, const std::string& program) {
  Image image = TRY(OpenImage(options.image, options.image_cache));
  Containers containers(options, TRY(StateFolder::Open(options.state_parent)));
  containers.image_ = std::move(image);
  const ContainerKind kind = TRY(containers.MakeKind(root, policy, program, {}));
  containers.runtime_ =
      TRY(FindRuntime(options.runtime, options.launcher,
                      [&](const Runtime& candidate) { return containers.Prove(candidate, kind); }));
  return containers;
}

Status Containers::Prove(const Runtime& candidate, ContainerKind kind) {
  runtime_ = candidate;
  if (candidate.docker()) {
    if (options_.foreign) {
      return Error(Errc::kUnsupported,
                   "its daemon would hold the limits and copy the streams of the program; podman, "
                   "or the runc that docker brought along, leaves both to us");
    }
    TRY(CheckDockerDaemon());
    RemoveOrphans();
    TRY(ImportRoot(kind));
  }
  const PreparedContainer trial = TRY(PrepareAs(kind, "prove", kTrialIds, false));
  Result<ProgramEnd> end = RunProgram(trial.run_arguments, kProofPatience);
  // A hanging one leaves processes that only its runtime knows.
  const bool clean = end.ok() && end->succeeded();
  if (!clean) static_cast<void>(RunProgram(DeleteArguments(trial.id), kDeletePatience));
  if (candidate.podman()) state_.EndEngine(trial.id);
  Forget(trial.id);
  if (!end) return std::move(end).error();
  if (!end->in_time) return Error(Errc::kUnsupported, "did not run a container in 5 seconds");
  if (end->exit_code == 0 && Trim(end->output).ends_with("proven")) return {};
  return Error(Errc::kUnsupported, "exit code " + std::to_string(end->exit_code) + "\n" +
                                       std::string(Trim(end->output)));
}

// A client that is killed at the wrong moment leaves a container that was made and never started.
void Containers::RemoveOrphans() const {
  const std::string& docker = runtime_.program;
  const auto remove = [&](const std::vector<std::string>& list, const char* noun) {
    const auto listed = RunProgram(list, kDeletePatience);
    if (!listed || !listed->succeeded()) return;  // the proof will say why
    for (const std::string& name : DockerOrphans(listed->output, options_.state_parent)) {
      static_cast<void>(RunProgram({docker, noun, "rm", "--force", name}, kDeletePatience));
    }
  };
  remove(DockerContainers(docker), "container");
  remove(DockerImages(docker), "image");
}

Status Containers::ImportRoot(ContainerKind& kind) {
  const DockerRoot root =
      TRY(MakeDockerRoot(kind.root, !image_.folder.empty() && kind.root.folder == image_.folder));
  const std::string name = DockerImageName(state_.server(), ++images_);
  const std::string folder = TRY(
      state_.AddImage(std::to_string(images_), {runtime_.program, "image", "rm", "--force", name}));
  const std::string archive = folder + "/root.tar";
  for (const auto& command : DockerImport(runtime_.program, root, archive, name)) {
    const ProgramEnd end = TRY(RunProgram(command, kImportPatience));
    if (!end.succeeded()) {
      return Error(Errc::kUnsupported, command.front() + ": " + std::string(Trim(end.output)));
    }
  }
  ::unlink(archive.c_str());
  kind.root = root.root;
  kind.engine_image = name;
  return {};
}

Result<ContainerKind> Containers::MakeKind(const sandbox::RootLayout& root,
                                           const policy::BoxPolicy& policy,
                                           const std::string& program,
                                           const std::vector<std::string>& granted) {
  ContainerKind kind;
  if (image_.folder.empty()) {
    kind.root = TRY(MakeHostRoot(root.plan(), state_.path() + "/root-" + std::to_string(++kinds_)));
  } else {
    std::vector<std::string> targets = granted;
    targets.push_back(program);
    if (image_.ours) TRY(MakeMountPoints(image_.folder, policy));
    kind.root = TRY(MakeImageRoot(root, image_, targets, sandbox::PythonStdlib()));
  }
  kind.policy = policy;
  kind.program = program;
  kind.work_folder = WorkFolderOf(policy);
  kind.host_name = "box";
  if (runtime_.docker()) TRY(ImportRoot(kind));
  return kind;
}

Result<PreparedContainer> Containers::Prepare(const ContainerKind& kind, const std::string& mode,
                                              std::optional<HostIds> ids) {
  return PrepareAs(kind, mode, ids, true);
}

Result<PreparedContainer> Containers::PrepareAs(const ContainerKind& kind, const std::string& mode,
                                                std::optional<HostIds> ids, bool detach) {
  PreparedContainer prepared;
  prepared.id = NextId();
  BundleSpec spec;
  spec.id = prepared.id;
  spec.server = state_.server();
  spec.root = &kind.root;
  spec.policy = &kind.policy;
  spec.arguments = {kind.program, mode};
  spec.work_folder = kind.work_folder;
  spec.host_name = kind.host_name;
  spec.own_kernel = runtime_.own_kernel();
  spec.ids = ids;
  if (runtime_.docker()) {
    TRY(PrepareDocker(kind, spec, detach, prepared));
    return prepared;
  }
  spec.arguments.push_back(std::to_string(runtime_.wire_fd()));
  TRY(Write(spec, detach, prepared));
  return prepared;
}

Status Containers::PrepareDocker(const ContainerKind& kind, BundleSpec& spec, bool detach,
                                 PreparedContainer& prepared) const {
  prepared.folder =
      TRY(state_.AddContainer(prepared.id, {{"seccomp.json", FilterConfiguration()}, {"log", ""}},
                              DeleteArguments(prepared.id)));
  prepared.log_file = prepared.folder + "/log";
  DockerStart start{runtime_.program,
                    runtime_.launcher,
                    kind.engine_image,
                    prepared.folder + "/seccomp.json",
                    "",
                    detach};
  if (detach) {
    start.wire_folder = prepared.folder + "/wire";
    prepared.wire_socket = start.wire_folder + "/" + kWireSocket;
    prepared.uid = spec.ids ? spec.ids->box : spec.inner_uid;
    spec.arguments.push_back(std::string(kDockerWireFolder) + "/" + kWireSocket);
    if (::mkdir(start.wire_folder.c_str(), 0711) != 0) {
      return Error::FromErrno("making " + start.wire_folder, errno);
    }
  }
  prepared.run_arguments = DockerRun(spec, start);
  return {};
}

Result<PreparedContainer> Containers::PrepareForeign(const sandbox::RootPlan& plan,
                                                     const ForeignProgram& program) {
  const ContainerRoot root =
      TRY(MakeHostRoot(plan, state_.path() + "/root-" + std::to_string(++kinds_)));
  PreparedContainer prepared;
  prepared.id = NextId();
  BundleSpec spec;
  spec.id = prepared.id;
  spec.server = state_.server();
  spec.root = &root;
  spec.policy = &program.policy;
  spec.arguments = program.arguments;
  spec.work_folder = program.work_folder;
  spec.host_name = "box";
  spec.own_kernel = runtime_.own_kernel();
  spec.ids = program.ids;
  spec.inner_uid = program.uid;
  spec.foreign = true;
  TRY(Write(spec, false, prepared));
  return prepared;
}

std::string Containers::RuntimeFolder(const std::string& id) const {
  return runtime_.podman() ? state_.engine_folder(id) : state_.runtime_folder();
}

std::string Containers::NextId() {
  return "glovebox-" + state_.server() + "-" + std::to_string(next_++);
}

Status Containers::Write(const BundleSpec& spec, bool detach, PreparedContainer& prepared) const {
  const std::string runtime_folder = RuntimeFolder(prepared.id);
  prepared.folder = TRY(state_.AddContainer(
      prepared.id, {{"config.json", BundleConfiguration(spec)}}, DeleteArguments(prepared.id)));
  if (detach) prepared.pid_file = prepared.folder + "/pid";
  prepared.log_file = prepared.folder + "/log";
  prepared.run_arguments =
      runtime_.RunArguments(runtime_folder, prepared.folder, prepared.pid_file, prepared.id);
  if (!runtime_.podman()) return {};
  return state_.AddEngine(prepared.id, PodmanFiles(runtime_folder, prepared.folder));
}

std::vector<std::string> Containers::DeleteArguments(const std::string& id) const {
  return runtime_.DeleteArguments(RuntimeFolder(id), id);
}

}  // namespace glovebox::container

#include "container/containers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "container/layer_tree.h"
#include "container/podman.h"
#include "container/program.h"
#include "sandbox/compile/python_box.h"

namespace glovebox::container {
namespace {

constexpr auto kProofPatience = std::chrono::seconds(5);
constexpr auto kDeletePatience = std::chrono::seconds(5);
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

Status Containers::Prove(const Runtime& candidate, const ContainerKind& kind) {
  runtime_ = candidate;
  const PreparedContainer trial = TRY(Prepare(kind, "prove", kTrialIds));
  const std::vector<std::string> run =
      candidate.RunArguments(RuntimeFolder(trial.id), trial.folder, "", trial.id);
  Result<ProgramEnd> end = RunProgram(run, kProofPatience);
  // A hanging one leaves processes that only its runtime knows.
  const bool clean = end.ok() && end->succeeded();
  if (!clean) static_cast<void>(RunProgram(DeleteArguments(trial.id), kDeletePatience));
  if (candidate.engine()) state_.EndEngine(trial.id);
  Forget(trial.id);
  if (!end) return std::move(end).error();
  if (!end->in_time) return Error(Errc::kUnsupported, "did not run a container in 5 seconds");
  if (end->exit_code == 0 && Trim(end->output).ends_with("proven")) return {};
  return Error(Errc::kUnsupported, "exit code " + std::to_string(end->exit_code) + "\n" +
                                       std::string(Trim(end->output)));
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
  return kind;
}

Result<PreparedContainer> Containers::Prepare(const ContainerKind& kind, const std::string& mode,
                                              std::optional<HostIds> ids) {
  PreparedContainer prepared;
  prepared.id = NextId();
  BundleSpec spec;
  spec.id = prepared.id;
  spec.server = state_.server();
  spec.root = &kind.root;
  spec.policy = &kind.policy;
  spec.arguments = {kind.program, mode, std::to_string(runtime_.wire_fd())};
  spec.work_folder = kind.work_folder;
  spec.host_name = kind.host_name;
  spec.own_kernel = runtime_.own_kernel();
  spec.ids = ids;
  TRY(Write(spec, prepared));
  prepared.run_arguments = runtime_.RunArguments(RuntimeFolder(prepared.id), prepared.folder,
                                                 prepared.pid_file, prepared.id);
  return prepared;
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
  TRY(Write(spec, prepared));
  prepared.run_arguments =
      runtime_.RunArguments(RuntimeFolder(prepared.id), prepared.folder, "", prepared.id);
  return prepared;
}

std::string Containers::RuntimeFolder(const std::string& id) const {
  return runtime_.engine() ? state_.engine_folder(id) : state_.runtime_folder();
}

std::string Containers::NextId() {
  return "glovebox-" + state_.server() + "-" + std::to_string(next_++);
}

Status Containers::Write(const BundleSpec& spec, PreparedContainer& prepared) const {
  prepared.folder = TRY(
      state_.AddContainer(prepared.id, BundleConfiguration(spec), DeleteArguments(prepared.id)));
  prepared.pid_file = prepared.folder + "/pid";
  prepared.log_file = prepared.folder + "/log";
  if (!runtime_.engine()) return {};
  return state_.AddEngine(prepared.id, PodmanFiles(RuntimeFolder(prepared.id), prepared.folder));
}

std::vector<std::string> Containers::DeleteArguments(const std::string& id) const {
  return runtime_.DeleteArguments(RuntimeFolder(id), id);
}

}  // namespace glovebox::container

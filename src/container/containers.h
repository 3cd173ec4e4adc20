#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/bundle.h"
#include "container/image.h"
#include "container/root_folder.h"
#include "container/runtime.h"
#include "container/state_folder.h"
#include "policy/box_policy.h"
#include "sandbox/compile/root_layout.h"

namespace glovebox::container {

struct ContainerOptions {
  std::string runtime = "auto";  // or a name of RuntimeNames()
  std::string image;             // what OpenImage takes; empty: made of the host's files
  std::string launcher;          // absolute path of glovebox-python
  // For a program of others, whose streams and limits docker's daemon would have in its hands.
  bool foreign = false;
  std::string state_parent = kStateParent;
  std::string image_cache = kImageCache;
};

// What containers of one kind have in common.
struct ContainerKind {
  ContainerRoot root;
  policy::BoxPolicy policy;
  std::string program;  // the first process, as named in the root
  std::string work_folder;
  std::string host_name;
  std::string engine_image;  // of a runtime that takes no folder as a root
};

// A program of others.
struct ForeignProgram {
  policy::BoxPolicy policy;  // tmpfs, the whole environment, resource limits
  std::vector<std::string> arguments;
  std::string work_folder;
  std::optional<HostIds> ids;  // of a container that shares the host's kernel
  std::uint32_t uid = 1000;    // in the container
};

// One container that can be started.
struct PreparedContainer {
  std::string id;
  std::string folder;
  std::vector<std::string> run_arguments;
  std::string pid_file;  // written by the runtime when the container runs
  // Where somebody has to listen before it is started: it connects, as `uid`. Then there is no
  // pid_file; the connection tells who it is. Empty: it is given a socket.
  std::string wire_socket;
  uid_t uid = 0;
  std::string log_file;  // for what the runtime has to say
};

// The containers of one server: the runtime that works here, found by using it, and the folder in
// which everything about them is kept. Knows no process: who starts what is the caller's business.
class Containers {
 public:
  // Sweeps what dead servers left, then finds a runtime: each candidate has to run a program of
  // ours in a container of `proof_kind`'s shape, within 5 seconds. Blocks for that long, and for as
  // long as it takes to unpack an image that was not yet. An error says what is missing and the
  // fix.
  static Result<Containers> Open(const ContainerOptions& options, const sandbox::RootLayout& root,
                                 const policy::BoxPolicy& policy, const std::string& program);

  const Runtime& runtime() const { return runtime_; }
  // The folder of the image that containers are made of; empty where there is none.
  const std::string& image_folder() const { return image_.folder; }

  // The root of a kind: `granted` are the paths in it that an operator added.
  Result<ContainerKind> MakeKind(const sandbox::RootLayout& root, const policy::BoxPolicy& policy,
                                 const std::string& program,
                                 const std::vector<std::string>& granted);

  // Writes the bundle of a container whose first process is the kind's program with `mode`.
  Result<PreparedContainer> Prepare(const ContainerKind& kind, const std::string& mode,
                                    std::optional<HostIds> ids);
  // Writes the bundle of a container whose first process is somebody else's program, in the root
  // that `plan` describes. Its runtime stays in the foreground: its descriptors are the program's,
  // its exit code too.
  Result<PreparedContainer> PrepareForeign(const sandbox::RootPlan& plan,
                                           const ForeignProgram& program);
  // The command that ends one and removes what the runtime keeps of it.
  std::vector<std::string> DeleteArguments(const std::string& id) const;
  // Once nothing of it lives: after that command, where the runtime needs it.
  void Forget(const std::string& id) const { state_.RemoveContainer(id); }

 private:
  Containers(ContainerOptions options, StateFolder state)
      : options_(std::move(options)), state_(std::move(state)) {}
  Status Prove(const Runtime& candidate, ContainerKind kind);
  Status ImportRoot(ContainerKind& kind);
  void RemoveOrphans() const;
  Result<PreparedContainer> PrepareAs(const ContainerKind& kind, const std::string& mode,
                                      std::optional<HostIds> ids, bool detach);
  Status PrepareDocker(const ContainerKind& kind, BundleSpec& spec, bool detach,
                       PreparedContainer& prepared) const;
  std::string NextId();
  std::string RuntimeFolder(const std::string& id) const;
  Status Write(const BundleSpec& spec, bool detach, PreparedContainer& prepared) const;

  ContainerOptions options_;
  StateFolder state_;
  Image image_;
  Runtime runtime_;
  std::uint64_t next_ = 1;
  std::uint64_t kinds_ = 0;
  std::uint64_t images_ = 0;
};

}  // namespace glovebox::container

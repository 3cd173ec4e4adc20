#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::container {

enum class RuntimeKind : std::uint8_t {
  kRunsc,   // gVisor: a kernel of its own in user space
  kCrun,    // the host's kernel
  kRunc,    // the host's kernel
  kPodman,  // an engine, without a daemon: has crun start it
  kDocker,  // an engine, whose daemon starts it
};

// A program that starts OCI containers, and how it is used here.
struct Runtime {
  RuntimeKind kind = RuntimeKind::kRunsc;
  std::string program;   // absolute path
  std::string platform;  // runsc only: how it catches system calls
  std::string launcher;  // glovebox-python, which hides cgroups from runtimes that want their own

  std::string name() const;      // "runsc"
  std::string Describe() const;  // "gVisor (runsc, platform ptrace)"
  bool own_kernel() const { return kind == RuntimeKind::kRunsc; }
  // podman has a folder of its own for every container.
  bool podman() const { return kind == RuntimeKind::kPodman; }
  // docker's daemon starts containers where it likes, and passes nothing on.
  bool docker() const { return kind == RuntimeKind::kDocker; }
  // Where a container finds the descriptor that its runtime was given for it: podman has other
  // plans for the standard input.
  int wire_fd() const { return podman() ? 3 : 0; }
  // Whether a start is not to be cut short: docker's daemon then forgets half of what it has begun.
  bool must_finish() const { return docker(); }
  // Whether a container whose processes are dead leaves more on the host than the state folder:
  // runc makes a cgroup for devices, docker's daemon has to be told.
  bool needs_delete() const { return kind == RuntimeKind::kRunc || docker(); }

  // Not docker's (container/docker.h).
  // Starts the container `id` of `bundle`; state is kept in `state_folder`, which podman has for
  // that container alone. With a `pid_file` the program ends when the container runs, and without
  // one when the container has ended.
  std::vector<std::string> RunArguments(const std::string& state_folder, const std::string& bundle,
                                        const std::string& pid_file, const std::string& id) const;
  // Kills the container, if it lives, and removes what the runtime keeps of it.
  std::vector<std::string> DeleteArguments(const std::string& state_folder,
                                           const std::string& id) const;

 private:
  std::vector<std::string> Front(const std::string& state_folder) const;
};

// What a setting may name: "auto" and the runtimes.
const std::vector<std::string>& RuntimeNames();

// Whether a runtime works here: nothing, or the reason why it does not.
using RuntimeProof = std::function<Status(const Runtime&)>;

// The first runtime that `setting` names, that is installed and that `proof` accepts: gVisor first,
// on the best of its platforms that works, engines last. kUnsupported when there is none, with what
// was tried, why it failed, and the fix.
Result<Runtime> FindRuntime(const std::string& setting, const std::string& launcher,
                            const RuntimeProof& proof);

}  // namespace glovebox::container

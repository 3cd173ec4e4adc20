#pragma once

// Theory of operation. The server never forks without exec. It starts a program inside new
// namespaces in four moves:
//
//   server                                   child (sandbox/child/spawn_child.cc)
//   clone3(namespaces, pidfd)         --->   waits for one byte
//   writes uid_map, gid_map of the child
//   sends the byte                    --->   mounts, identity, root, descriptors, exec
//   reads the failure pipe            <---   end-of-file: exec'd; a record: the stage that failed

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/compile/root_layout.h"

namespace glovebox::sandbox {

// A child process. Killed and reaped by the destructor.
class Process {
 public:
  Process(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }

 private:
  pid_t pid_;
  UniqueFd pidfd_;
};

struct SpawnRequest {
  std::uint64_t namespaces = 0;  // CLONE_NEW*
  // With CLONE_NEWUSER: what uid and gid 0 inside are outside. More than one of them needs
  // privilege; a single one must be the caller's own.
  uid_t uid_base = 0;
  gid_t gid_base = 0;
  std::uint32_t uid_count = 1;
  // Without CLONE_NEWUSER, as root: the uid of the host that the child becomes, and the
  // capabilities it keeps. 0: it stays what we are.
  uid_t host_uid = 0;
  std::uint64_t kept_capabilities = 0;
  std::string cgroup_file;  // takes the child's pid before it goes on; empty: it stays in ours
  std::function<Status(pid_t)> adopt;  // told that pid at the same moment; may be empty
  // With CLONE_NEWNET: ports on which the child listens in its network, whose lo is up, and the
  // socket over which the listeners come to us (ReceiveListeners); -1: neither.
  std::vector<std::uint16_t> listener_ports = {};
  int listener_report_fd = -1;
  const RootLayout* root = nullptr;  // with CLONE_NEWNS: the root to build; null keeps the host's
  std::vector<std::pair<int, int>> descriptors;  // (ours, the child's); all others are closed
  std::string executable;                        // as named inside the new root
  std::vector<std::string> arguments;            // argv, from argv[0] on
  std::vector<std::string> environment;          // complete
};

// Starts it. The child dies with the calling thread. An error names the stage and, for a mount, the
// entry: "starting glovebox-python: mounting bind /usr/lib/python3.11: Permission denied".
Result<Process> Spawn(const SpawnRequest& request);

// Underneath Spawn, for children that never exec: a clone with `flags` that runs `child(plan)`,
// which must be after-fork code (sandbox/child) and not return. `closed_fd` is closed in it first,
// -1 for none. `cgroup_fd`: the v2 group it is born into, -1 for ours.
Result<Process> CloneChild(std::uint64_t flags, int closed_fd, void (*child)(const void* plan),
                           const void* plan, int cgroup_fd = -1);

// The id maps of a child cloned with CLONE_NEWUSER, as in SpawnRequest.
Status WriteIdMaps(pid_t pid, uid_t uid_base, gid_t gid_base, std::uint32_t count);

// For messages: what a child was doing at `stage`.
std::string StageName(ChildStage stage);

}  // namespace glovebox::sandbox

#pragma once

// `glovebox run`: one program of others, from its policy to its exit code.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/jail_policy.h"

namespace glovebox::jail {

struct RunRequest {
  policy::JailPolicy policy;
  std::vector<std::string> command;
  std::string cgroup_parent;   // empty: where the host lets us
  std::string egress_program;  // glovebox-egress, where hosts are granted
  // In an OCI container of this runtime (container::RuntimeNames) instead of a box of ours.
  std::optional<std::string> container_runtime;
  std::string launcher;  // glovebox-python, for a container
  bool quiet = false;    // refusals are not said on standard error
  pid_t client = 0;      // whose death ends the program; 0: nobody's
};

inline constexpr int kExitTimedOut = 124;
inline constexpr int kExitOurFailure = 125;
inline constexpr int kExitLimit = 137;

// The signal by which the process that keeps the supervisor tells of its own death.
inline constexpr int kKeeperDiedSignal = 30;  // SIGPWR

// Runs it with our descriptors 0, 1 and 2 as its client. The program's exit code, 128 and its
// signal, or one of the above. An error means that it did not start. Blocks the signals that it
// passes on; the calling process must have no other thread.
Result<int> RunJail(const RunRequest& request);

}  // namespace glovebox::jail

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/parent/spawn.h"
#include "sandbox/plan/probe_plan.h"

namespace glovebox::sandbox {

inline constexpr int kProbeTimeMaxMs = 2'000;  // what a probe does takes microseconds

// The uids a box's zygote would get, as SpawnRequest has them.
struct ProbeIds {
  uid_t uid_base = 0;
  gid_t gid_base = 0;
  std::uint32_t count = 1;
};

struct ProbePipe {
  UniqueFd read;
  UniqueFd write;
};
Result<ProbePipe> MakeProbePipe();  // neither end blocks

// `plan` in a throw-away child of its own, in a new user namespace and the other `namespaces`.
// An error names the stage that failed and carries the errno.
Status ProbeInUserNamespace(std::uint64_t namespaces, const ProbeIds& ids, ProbePlan plan);

// `plan` in a throw-away child in new `namespaces`, without a user namespace; 0 for none.
Status ProbeWithoutUserNamespace(std::uint64_t namespaces, ProbePlan plan);

// Underneath: runs the plan (for CloneChild), waits for its end, reads what it said.
void RunProbeChild(const void* plan);
Status ProbeEnding(const Process& process, const ProbePipe& report);
std::optional<ChildFailure> ReadProbeRecord(int fd);
Status ToStatus(const ChildFailure& failure);

}  // namespace glovebox::sandbox

#include "container_differences.h"

#include <array>

namespace glovebox::isolation {
namespace {

constexpr auto kDone = ExecutionStatus::kCompleted;
constexpr auto kRaised = ExecutionStatus::kFailed;
constexpr auto kTooMuch = ExecutionStatus::kLimitExceeded;

constexpr std::array kTable = {
    ContainerDifference{"runsc", "setns", kRaised, false,
                        "gVisor shows no /proc/self/ns/uts to be opened"},
    ContainerDifference{"runsc", "wx_mapping", kDone, true,
                        "gVisor has no PR_SET_MDWE; what is executed still meets gVisor's kernel"},
    ContainerDifference{"runsc", "mprotect_exec", kDone, true, "as wx_mapping"},
    ContainerDifference{"runsc", "fork_bomb", kTooMuch, true,
                        "a process of the program is several tasks of the host, and some memory of "
                        "gVisor's: the group's limits end the container"},
    ContainerDifference{"runsc", "clone_bomb", kTooMuch, true, "as fork_bomb"},
    ContainerDifference{"runsc", "memory_far", kTooMuch, false,
                        "gVisor does not count RLIMIT_DATA: the group's limit ends the container"},
    ContainerDifference{"runsc", "memory_pipes", kTooMuch, false,
                        "gVisor's pipes are the container's memory, without a limit of their own"},
    ContainerDifference{"runsc", "disk_inodes", kDone, true,
                        "gVisor's tmpfs counts no inodes; their memory is the container's"},
};

}  // namespace

std::span<const ContainerDifference> ContainerDifferences() { return kTable; }

const ContainerDifference* DifferenceOf(const std::string& payload, const std::string& runtime) {
  for (const ContainerDifference& difference : kTable) {
    if (payload == difference.payload && runtime == difference.runtime) return &difference;
  }
  return nullptr;
}

}  // namespace glovebox::isolation

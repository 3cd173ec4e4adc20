#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace glovebox::audit {

// Runs with walls off happen in here: a mount, PID, network, IPC and host-name world of its own, in
// which the root is read-only, loopback is up, and everything together may use 1 GiB and 512
// processes. What runs there calls its inhabitants "the host".
//
//   outer process --fork--> cage init (PID 1) --fork--> the work
inline constexpr std::uint64_t kCageMemoryBytesMax = 1ull << 30;
inline constexpr std::uint32_t kCageProcessesMax = 512;
inline constexpr char kHostFolder[] = "/srv/glovebox-isolation";

struct CageEntry {
  bool inside = false;  // false: this is the outer process and the work has ended
  int exit_code = 0;    // of the work, when outside
};

// Forks twice and returns in two processes. Call once per process, with one thread. When the cage
// cannot be made it returns inside with CageProblem() set. Needs root.
CageEntry EnterCage();

// Why there is no cage; empty inside a good one.
const std::string& CageProblem();

// Bytes charged to the cage's memory group now, its boxes included.
std::uint64_t CageMemoryBytes();

// A limit file of the cage's memory group: what a box must not be able to open for writing.
const std::string& CageLimitFile();

// Tasks (threads counted) that live in the cage's PID namespace.
std::uint32_t CageTasks();

// The most that was in use since the last reset, as the kernel counted it.
std::uint64_t CageMemoryPeak();
Status ResetCageMemoryPeak();

// The limit file of this process's own memory group; empty where there is none.
std::string OwnLimitFile();

// The content of `path`, or nothing.
std::string FileText(const std::string& path);

}  // namespace glovebox::audit

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/box_policy.h"
#include "sandbox/compile/landlock_abi.h"
#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

// For people: what this ABI leaves to the other walls ("TCP", "signals", ...); empty from 6 on.
std::vector<std::string> MissingWithLandlockAbi(int abi);

struct LandlockGrant {
  std::string path;
  std::uint64_t allowed = 0;
};

// Read what the root binds, its files and /proc; read and write the device nodes; everything but
// execution, sockets and device nodes under the tmpfs. Nothing may be executed, no TCP port is
// granted. "/" itself is not granted (rules reach downward), so it cannot be listed.
std::vector<LandlockGrant> CompileLandlock(const policy::BoxPolicy& policy, int abi);

// The same for a box that shares the host's files: what the root would bind and the devices, under
// their names on the host; no file that would be our own, no /proc, no tmpfs.
std::vector<LandlockGrant> CompileLandlockOnHost(const policy::BoxPolicy& policy, int abi);

// What a box may do in a folder of its own.
std::uint64_t LandlockWritable(int abi);

// What a path of a jail may be used for.
enum class LandlockUse : std::uint8_t {
  kList,     // its folders can be listed
  kRead,     // and its files read
  kExecute,  // and run
  kWrite,    // read and changed; never run, no sockets, no device nodes
  kOwn,      // read, changed and run
  kDevice,   // read and written as it is
};
std::uint64_t LandlockRights(int abi, LandlockUse use, bool folder);

}  // namespace glovebox::sandbox

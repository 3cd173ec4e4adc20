#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::sandbox {

// What one wall needs of the host, tried alone.
enum class HostProbe : std::uint8_t {
  kIdentity,
  kRoot,
  kPidNamespace,
  kNetNamespace,
  kIpcNamespace,
  kLandlock,
  kSeccomp,
  kCallEvents,
  kCgroups,  // root only: others have none of their own
  kRlimits,
};

struct ProbeResult {
  HostProbe probe;
  Status status;  // the error names the stage and carries the errno
};

// Does, one by one and in throw-away children, what building a box needs: namespaces as a box's
// zygote has them, the box's root with `zygote_program` started in it, a Landlock domain that takes
// a file away, the real system-call filter with a listener, the box's rlimits, cgroups as a server
// makes them. Nothing is left behind. For a host on which no box can be built: says what is in the
// way. Takes some milliseconds per probe.
//
// Thread rule: any thread, but the children die with it.
std::vector<ProbeResult> ProbeHost(const std::string& zygote_program);

}  // namespace glovebox::sandbox

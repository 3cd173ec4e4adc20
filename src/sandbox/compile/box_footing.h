#pragma once

namespace glovebox {

// What holds a box besides the filter. Each kind of box is refused what the one before it is; a
// container is refused what the first is, and no supervisor hears of it.
enum class BoxFooting {
  kContainer,   // an OCI runtime, and a cgroup counts its memory
  kCgroup,      // a cgroup counts its memory
  kSupervisor,  // a supervisor that looks at its processes does
  kSharedHost,  // the same, and it has no namespaces: processes and files are the host's
};

}  // namespace glovebox

#pragma once

#include <array>
#include <cstdint>

#include "sandbox/plan/walls.h"

namespace glovebox::sandbox {

// Whose uid a box has.
enum class IdentitySource : std::uint8_t {
  kMappedRange,  // one of our range, by a user namespace that maps it: root
  kMappedSelf,   // the starting user's, in a user namespace of the box's own: a normal user
  kHostRange,    // one of our range, by a real change of uid: root without user namespaces
  kSelf,         // the starting user's, shared with everything that user runs
};

// How this host can hold boxes. Decided once per executor: sandbox/parent/host_decision.h.
struct HostMode {
  IdentitySource identity = IdentitySource::kMappedRange;
  bool namespaces = true;  // pid, mount, net, ipc, uts: and so a root of the box's own

  constexpr bool user_namespaces() const {
    return identity == IdentitySource::kMappedRange || identity == IdentitySource::kMappedSelf;
  }
  // Boxes have uids that nobody else has.
  constexpr bool own_uids() const {
    return identity == IdentitySource::kMappedRange || identity == IdentitySource::kHostRange;
  }
  // Weaker than promised: only with the operator's word, and said in every result.
  constexpr bool degraded() const { return !namespaces; }
};

// A wall that a box lacks, and what that means: a line of `missing_walls`.
struct MissingWall {
  Wall wall;
  const char* what;
};

// Without namespaces. The identity wall is in the list only where the uid is not the box's own; the
// rest of it (no capabilities, no_new_privs, a fresh keyring) stands in every mode.
inline constexpr std::array<MissingWall, 4> kMissingWithoutNamespaces = {{
    {Wall::kRoot,
     "root: names, sizes and times of the host's files can be seen (not their content); what a box "
     "may write is a folder of the host, bounded by looking"},
    {Wall::kPidNamespace, "pid namespace: which process ids of the host exist can be seen"},
    {Wall::kNetNamespace,
     "net namespace: the network is held by the system-call filter and Landlock alone"},
    {Wall::kIpcNamespace,
     "ipc namespace: queues and shared memory are held by the system-call filter alone; the host's "
     "name can be seen"},
}};
inline constexpr MissingWall kMissingOwnUid = {
    Wall::kIdentity,
    "identity: boxes have the server's own uid, whose other processes count towards theirs"};

// The walls that can stand at all in `mode`. The identity wall always does, in what is left of it.
constexpr Walls WallsIn(const HostMode& mode) {
  std::uint32_t bits = Walls::All().bits();
  if (!mode.namespaces) {
    for (const MissingWall& missing : kMissingWithoutNamespaces) {
      bits &= ~(1u << static_cast<unsigned>(missing.wall));
    }
  }
  return Walls::FromTrustedBits(bits);
}

}  // namespace glovebox::sandbox

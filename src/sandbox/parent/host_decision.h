#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/parent/uid_range.h"
#include "sandbox/plan/host_mode.h"

namespace glovebox::sandbox {

// What stands in the way of a stronger mode: tried, refused, and why that is so here.
struct Obstacle {
  std::string act;    // "user namespaces"
  Status status;      // the stage and the errno
  std::string cause;  // "user.max_user_namespaces is 0"
  std::string fix;    // "sysctl -w user.max_user_namespaces=15000"
};

struct HostDecision {
  HostMode mode;
  std::vector<Obstacle> obstacles;  // empty in the first mode that was tried
};

// How this host can hold boxes, found by doing in throw-away children: the strongest way first, the
// next only when that fails. Milliseconds. `range` is the one whose uids the boxes will get; null
// for a user who is not root.
//
// Thread rule: any thread, but the children die with it.
HostDecision DecideHostMode(const UidRange* range);

// The lines of `missing_walls` for boxes of `mode`; empty at full strength.
std::vector<MissingWall> MissingWalls(const HostMode& mode);

// Whether boxes may be made this way. A refusal names what is missing, why, and the fix. Boxes with
// the uid of root are refused whatever the operator says.
Status RequireStrength(const HostDecision& decision, bool allow_degraded);

}  // namespace glovebox::sandbox

#pragma once

// What a throw-away child tries, so that a host can be asked by doing what it allows.

#include <cstdint>
#include <type_traits>

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

enum class ProbeAct : std::uint8_t {
  kExist,     // the namespaces of the clone are all there is to try
  kIdentity,  // a second user namespace, as boxes have, and power over its own capabilities
  kFirstPid,  // be process 1
  kHostName,
  kLimits,
  kLandlock,  // lose a file that could be read before
  kFilter,    // lose a system call
  kHostUid,   // become another user of the host, and lose every capability
};

struct ProbePlan {
  ProbeAct act = ProbeAct::kExist;
  // Takes ChildFailure records: what failed (errno 0: it was set up and held nothing back), or,
  // from kFilter, one without a stage whose errno is the number of the filter's listener.
  int report_fd = -1;
  int parent_ready_fd = -1;             // one byte arrives when the parent has written the id maps
  bool switch_identity = false;         // become uid 0 and gid 0 of the new user namespace
  uid_t host_uid = 0;                   // kHostUid
  std::uint64_t kept_capabilities = 0;  // kHostUid: what a zygote keeps; with CAP_SYS_ADMIN, used
  const LimitEntry* limits = nullptr;
  std::uint16_t limit_count = 0;
  LandlockPlan landlock;
  const char* readable_file = nullptr;  // kLandlock: what is lost
  const sock_filter* filter = nullptr;
  std::uint16_t filter_length = 0;
  long refused_call = 0;  // kFilter: what is lost; made with an argument that no call takes
  int refused_error = 0;  // and how the listener's owner answers it
};

static_assert(std::is_trivially_copyable_v<ProbePlan> &&
              std::is_trivially_destructible_v<ProbePlan>);

}  // namespace glovebox::sandbox

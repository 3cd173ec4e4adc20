#pragma once

#include <sys/types.h>

#include <cstdint>

namespace glovebox::sandbox {

// Processes and threads of this user that we can see: what RLIMIT_NPROC counts for a box that has
// the user's own uid.
std::uint32_t CountTasksOf(uid_t user);

}  // namespace glovebox::sandbox

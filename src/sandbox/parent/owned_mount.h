#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::sandbox {

// A detached copy of the mounts at `path`, which may lead through no link, in which what belongs to
// the owner of `path` (and to its group) appears to belong to `uid`, and what `uid` makes belongs
// to the owner: an id-mapped mount. So a box with a uid of its own uses what it is granted as the
// owner would. A file system that cannot do that is given as it is, and its permissions decide.
//
// Needs CAP_SYS_ADMIN on the host. `uid` must not own anything there.
Result<UniqueFd> CloneTreeFor(const std::string& path, uid_t uid);

}  // namespace glovebox::sandbox

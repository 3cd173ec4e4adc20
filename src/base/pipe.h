#pragma once

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Close-on-exec, blocking.
Result<Pipe> MakePipe();

}  // namespace glovebox

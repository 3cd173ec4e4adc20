#pragma once

#include "base/result.h"

namespace glovebox::zygote {

// Runs a typical program by the path that a request takes, frames and streams included, and removes
// its traces. Standard output must lead nowhere. Fails if that program does.
Status Rehearse();

}  // namespace glovebox::zygote

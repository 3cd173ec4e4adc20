#pragma once

#include <cstdint>

#include "base/result.h"

namespace glovebox::zygote {

enum class RehearsalPlace : std::uint8_t {
  kZygote,
  kBox,
  kNextBox,  // that will be handed out before others: see wire::Rehearsal
};

// Runs a typical program by the path that a request takes, frames and streams included, and removes
// its traces. Standard output must lead nowhere. Fails if that program does.
Status Rehearse(RehearsalPlace place);

}  // namespace glovebox::zygote

#pragma once

#include <optional>
#include <string>

#include "executor/outcome.h"
#include "payload_table.h"
#include "sandbox/plan/walls.h"

namespace glovebox::isolation {

// What one payload did in one box.
struct Trial {
  std::optional<std::string> effect;  // what the witness saw; nothing when the payload was stopped
  Outcome outcome;
};

// Runs `payload` in a box with these walls, watched from outside. Precondition: TheScene() is
// there.
Trial Try(const Payload& payload, sandbox::Walls walls);

}  // namespace glovebox::isolation

#pragma once

#include <optional>
#include <string>

#include "audit/probe.h"
#include "audit/scene.h"
#include "audit/target.h"

namespace glovebox::audit {

// What one probe did at one target.
struct Trial {
  // Why it was not run; empty when it was.
  std::string skipped;
  // What the witness saw; nothing when the probe was stopped.
  std::optional<std::string> effect;
  // What the program says it got, where it says so; not evidence by itself.
  std::optional<std::string> answer;
  std::string problem;  // the last thing that went wrong in the program; may be empty

  bool ran() const { return skipped.empty(); }
};

// Runs `probe` at `target`, watched from outside.
Trial Try(const Probe& probe, Scene& scene, Target& target);

// Why `probe` is not for a place where nothing of ours stops it; empty when it is.
std::string ReasonToSkip(const Probe& probe);

}  // namespace glovebox::audit

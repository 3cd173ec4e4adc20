#pragma once

#include <string>

#include "doctor/host_report.h"

namespace glovebox::doctor {

// What boxes of this host showed of themselves.
struct TrialReport {
  BoxReport box;
  bool interpreter_refuses = false;  // the audit hook answered, with an event
};

// Builds an executor as `serve` does, at full strength, else weaker if that is
// possible, with the program `zygote_program`, runs print(2+2) in a box of it
// and, in another, what the audit hook refuses; then takes everything down
// again. Blocks for that long, kTrialSecondsMax at most.
TrialReport TryBox(const std::string& zygote_program);

// The same for a container: which runtime works, and print(2+2) under it.
ContainerReport TryContainer(const std::string& zygote_program);

}  // namespace glovebox::doctor

#pragma once

#include <string>

#include "base/result.h"
#include "row.h"

namespace glovebox::bench {

// What boxes that wait for a request hold for themselves alone.
struct BoxMemory {
  const Workload* workload;
  int boxes = 0;                   // that were waiting
  double private_dirty_bytes = 0;  // per box, its init and its Python together
  double zygote_bytes = 0;         // resident, of the zygote they are forked from
};

// Starts an executor with a pool and looks at its boxes in /proc. This process has no other child.
Result<BoxMemory> MeasureBoxMemory(const std::string& zygote, const Workload& workload);

}  // namespace glovebox::bench

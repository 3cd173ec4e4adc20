#pragma once

#include <string>
#include <vector>

#include "rows.h"

namespace glovebox::bench {

// Executions per second of one service under load, slice by slice.
struct ThroughputRow {
  std::string name;
  const Workload* workload;
  std::vector<double> per_second = {};
};

// Loads ours and the plain fork server with the same preimports in turn, with as many requests in
// flight as two per CPU; every box, and every fork, is used once.
Result<std::vector<ThroughputRow>> MeasureThroughput(const WarmServices& services, int slices);

}  // namespace glovebox::bench

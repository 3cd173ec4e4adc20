#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "executor/outcome.h"
#include "executor/request.h"

namespace glovebox::isolation {

// A program that tries to get out of being watched, and how it must end.
struct HostileCase {
  std::string name;
  std::string code;
  std::vector<ExecutionStatus> statuses;  // any of these
  std::string limit_hit = {};             // must be among limits_hit, unless empty
  int signal = 0;                         // must be the signal, unless 0
  std::optional<int> exit_code = {};
  std::string stdout_has = {};
  ExecutionLimits limits = {.wall_ms_max = 2'000};

  friend void PrintTo(const HostileCase& hostile, std::ostream* stream) { *stream << hostile.name; }
};

const std::vector<HostileCase>& HostileCases();

// Those that only a deadline ends, for the timing test.
const std::vector<HostileCase>& DeadlineCases();

}  // namespace glovebox::isolation

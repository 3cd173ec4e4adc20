#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::container {

// How a program of the host ended.
struct ProgramEnd {
  int exit_code = 0;  // 128 + the signal that ended it
  bool in_time = true;
  std::string output;  // stdout and stderr, the first 64 KiB

  bool succeeded() const { return in_time && exit_code == 0; }
};

// Runs `arguments` (the first is an absolute path) to its end, or kills it and what it started in
// its process group when `patience` is over. Blocks. An error means that it could not be started.
Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments,
                              std::chrono::milliseconds patience);

// The environment of every program started here, complete.
const std::vector<std::string>& ProgramEnvironment();

// The absolute path of a program in PATH or in the folders of system administration; or nothing.
std::string FindProgram(const std::string& name);

}  // namespace glovebox::container

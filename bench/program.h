#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::bench {

// Starts a program, waits until its standard output is closed and it has ended. Fails, with what it
// said on standard error, unless it ended with 0 and printed exactly `output` within five seconds;
// a program that takes longer is killed with its process group.
Status RunProgram(const std::vector<std::string>& arguments, const std::string& output);

}  // namespace glovebox::bench

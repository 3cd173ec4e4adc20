#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glovebox {

// One NAME=VALUE line of a `.env` file.
struct EnvironmentLine {
  std::string name;
  std::string value;
  int line = 0;
};

// The assignments of a `.env` file, in order. Such files are shared with other programs: what is no
// assignment is skipped. Taken off: `export `, blanks around name and value, one pair of quotes
// around the value, and a comment after an unquoted one (a blank, then #). Nothing is expanded.
std::vector<EnvironmentLine> ReadEnvironmentFile(std::string_view text);

}  // namespace glovebox

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::policy {

// A Python package beyond the standard library, and where a machine gets it.
struct PythonPackage {
  std::string module;        // what code imports: "sklearn"
  std::string distribution;  // as installed: "scikit-learn"
  std::string debian;        // "python3-sklearn"
};

// Parses policies/packages/*.toml. An unknown key, a missing `why` or a module named twice is an
// error that names the entry.
Result<std::vector<PythonPackage>> ParsePackageList(std::string_view text);

}  // namespace glovebox::policy

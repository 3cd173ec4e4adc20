#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "row.h"

namespace glovebox::bench {

// `glovebox serve`, and execute_code calls to it. Destroying it ends the server. Blocks; one
// thread.
class ServedPython {
 public:
  virtual ~ServedPython() = default;
  virtual Status Run(const Workload& workload) = 0;

  // One client on standard input and output.
  static Result<std::unique_ptr<ServedPython>> StartStdio(const std::string& glovebox);
  // One client that keeps its connection.
  static Result<std::unique_ptr<ServedPython>> StartHttp(const std::string& glovebox);
};

}  // namespace glovebox::bench

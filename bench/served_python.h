#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "row.h"

namespace glovebox::bench {

// `glovebox serve`, and calls to it. Destroying it ends the server. Blocks; one
// thread.
class ServedPython {
 public:
  virtual ~ServedPython() = default;
  // execute_code: fails unless it printed what the workload prints.
  Status Run(const Workload& workload);
  // validate_code: fails unless the workload's code is found valid.
  Status Validate(const Workload& workload);

  // One client on standard input and output.
  static Result<std::unique_ptr<ServedPython>> StartStdio(const std::string& glovebox);
  // One client that keeps its connection.
  static Result<std::unique_ptr<ServedPython>> StartHttp(const std::string& glovebox);

 protected:
  // One request and its answer; `tool` is the one that `message` calls.
  virtual Result<std::string> Exchange(const char* tool, const std::string& message) = 0;
};

}  // namespace glovebox::bench

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "piped_program.h"
#include "row.h"

namespace glovebox::bench {

// What every server imports before the first request: as `glovebox serve` does for the workload's
// profile.
std::vector<std::string> ModulesOf(const Workload& workload);

// A running python_server, and requests to it.
class PythonServer {
 public:
  // `mode` is fork or reuse; `folder` is for its socket.
  static Result<std::unique_ptr<PythonServer>> Start(const std::string& program,
                                                     const std::string& folder,
                                                     const std::string& mode,
                                                     const Workload& workload);
  // One request; any thread.
  Status Run(const Workload& workload) const;

 private:
  PythonServer(PipedProgram program, std::string socket)
      : program_(std::move(program)), socket_(std::move(socket)) {}

  PipedProgram program_;
  std::string socket_;
};

}  // namespace glovebox::bench

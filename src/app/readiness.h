#pragma once

#include <string>

#include "executor/executor.h"

namespace glovebox {

// Whether this server can run code now. Known from what executions come to: at the start, and
// whenever the last box could not be built, from an empty one of its own.
//
// Thread rule: the executor's thread.
class Readiness {
 public:
  // `executor` must outlive every execution it was given.
  explicit Readiness(Executor& executor) : executor_(executor) {}

  // Starts an execution of an empty program, unless one is under way.
  void Probe();

  // An execution ended, anybody's.
  void OnExecution(const Outcome& outcome);

  // From here on the answer is no.
  void Drain() { draining_ = true; }

  // Why not; empty when ready. A server that could not build its last box is asked to try again.
  std::string WhyNot();

 private:
  Executor& executor_;
  bool probing_ = false;
  bool draining_ = false;
  bool ready_ = false;
  std::string reason_ = "Python is starting";
};

}  // namespace glovebox

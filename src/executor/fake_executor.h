#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "executor/executor.h"

namespace glovebox {

// An Executor for unit tests: remembers what it was asked to run; the test decides how it ends.
class FakeExecutor final : public Executor {
 public:
  struct Run final : Execution {
    ExecutionRequest request;
    ExecutionObserver* observer = nullptr;
    DoneHandler done;
    int cancels = 0;
    void Cancel() override { ++cancels; }
  };

  std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                   DoneHandler done) override {
    auto run = std::make_shared<Run>();
    run->request = std::move(request);
    run->observer = observer;
    run->done = std::move(done);
    runs.push_back(run);
    return run;
  }

  ExecutorLoad load() const override { return current_load; }

  // As the real one: a handler that can no longer be called lets go of its call.
  ~FakeExecutor() override {
    for (const auto& run : runs) run->done = nullptr;
  }

  // An outcome with which a run may end.
  static Outcome Ended(ExecutionStatus status, std::string message = "") {
    Outcome outcome;
    outcome.status = status;
    outcome.execution_id = "the id";
    outcome.message = std::move(message);
    return outcome;
  }

  std::vector<std::shared_ptr<Run>> runs;
  ExecutorLoad current_load;
};

}  // namespace glovebox

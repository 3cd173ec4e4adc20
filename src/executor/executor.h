#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "executor/outcome.h"
#include "executor/request.h"

namespace glovebox {

// Hears of an execution while it runs. Called on the executor's thread; must not block.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void OnStdout(std::string_view /*bytes*/) {}
  virtual void OnStderr(std::string_view /*bytes*/) {}
};

// A handle on a running execution.
class Execution {
 public:
  virtual ~Execution() = default;
  // Kills the box; the outcome arrives as `cancelled` unless the execution had already ended.
  // May be called at any moment, more than once.
  virtual void Cancel() = 0;
};

// How busy an executor is.
struct ExecutorLoad {
  std::size_t running = 0;  // boxes alive, those that are being cleared away included
  std::size_t waiting = 0;  // requests without a box
};

// Decides when and where a request runs: one request, one box, one Outcome.
//
// Thread rule: all calls and all callbacks on the thread that runs the executor's io_context.
class Executor {
 public:
  using DoneHandler = std::function<void(Outcome)>;
  virtual ~Executor() = default;

  // Starts `request`. `done` is called exactly once, never from inside Start, unless the executor
  // is destroyed before: then it is not called at all. A box that could not be built is an Outcome
  // too (`setup_failed`, the reason in `message`). `observer` may be null and must outlive the call
  // to `done`.
  virtual std::shared_ptr<Execution> Start(ExecutionRequest request, ExecutionObserver* observer,
                                           DoneHandler done) = 0;

  virtual ExecutorLoad load() const = 0;
};

}  // namespace glovebox

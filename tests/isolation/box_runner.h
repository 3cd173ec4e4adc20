#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "audit/wall_seam.h"
#include "executor/executor.h"
#include "sandbox/plan/walls.h"

namespace glovebox::audit {}

namespace glovebox::isolation {

// The host's side, its witnesses and the programs themselves are the audit's.
using namespace audit;  // NOLINT(google-build-using-namespace)

// Runs requests in boxes, one executor per set of walls, all on the caller's thread.
class BoxRunner {
 public:
  BoxRunner();
  ~BoxRunner();

  // The executor for `walls`; null, with problem() set, when it cannot be made.
  Executor* ExecutorFor(sandbox::Walls walls);
  const std::string& problem() const { return problem_; }

  // Runs to the end. `tick` is called every few milliseconds meanwhile. An executor that cannot be
  // made gives `setup_failed`; one that never answers gives `setup_failed` too, and says so.
  Outcome Run(sandbox::Walls walls, ExecutionRequest request,
              const std::function<void()>& tick = {});

  // Turns the loop until `done` says so or the time is over; whether it was done.
  bool RunUntil(const std::function<bool()>& done, int timeout_ms,
                const std::function<void()>& tick = {});

  // Lets dying boxes go, then ends every executor.
  void Clear();
  // Ends every executor this instant.
  void Drop();
  // Counts the ends of executors: slots and zygotes of an earlier one are gone.
  int generation() const { return generation_; }

 private:
  boost::asio::io_context context_;
  std::map<std::uint32_t, std::unique_ptr<Executor>> executors_;
  std::string problem_;
  int generation_ = 0;
};

// The runner of this test process.
BoxRunner& Runner();

// The normal user that executors run as: $GLOVEBOX_ISOLATION_UID; nothing for root.
std::optional<uid_t> ExecutorUser();

// Whether this run is on a host that refuses user namespaces: GLOVEBOX_ISOLATION_NO_USERNS=1.
// Executors of a normal user are then allowed to be degraded.
bool WithoutUserNamespaces();

// The container runtime that holds boxes in this run: $GLOVEBOX_ISOLATION_CONTAINER; empty: none.
std::string ContainerRuntime();

// Where glovebox-python is: $GLOVEBOX_PYTHON, set by ctest.
std::string ZygoteProgram();

// Whether `text` is anywhere in what came out of the box.
bool AppearsIn(const Outcome& outcome, const std::string& text);

// One line about an outcome, for failure messages.
std::string Summary(const Outcome& outcome);

}  // namespace glovebox::isolation

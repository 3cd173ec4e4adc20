#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "executor/executor.h"
#include "row.h"

namespace glovebox::bench {

// Our executor as a program that embeds it uses it, with the modules of one workload imported.
class WarmExecutor {
 public:
  static constexpr std::uint32_t kWarmBoxes = 8;  // made ahead
  static constexpr std::uint32_t kWarmContainers = 2;

  static Result<std::unique_ptr<WarmExecutor>> Start(const std::string& zygote,
                                                     const Workload& workload);
  // The same with containers that wait, of the runtime that works here; fails where none does.
  static Result<std::unique_ptr<WarmExecutor>> StartContainers(const std::string& zygote,
                                                               const Workload& workload);
  // One execution from start to outcome.
  Status Run();
  // As many executions as `seconds` allow, `in_flight` at a time, each in a box of its own.
  Result<double> RunsPerSecond(double seconds, int in_flight);
  // Lets what happens behind the executions (boxes cleared away and made ahead) happen.
  void Idle(double seconds);

 private:
  explicit WarmExecutor(const Workload& workload) : workload_(workload) {}
  // Starts one execution; `then` follows its end. When it fails, the reason is in `failure_`.
  void StartOne(std::function<void()> then);

  const Workload& workload_;
  bool use_container_ = false;
  boost::asio::io_context context_{1};
  std::unique_ptr<Executor> executor_;
  std::string failure_;
};

}  // namespace glovebox::bench

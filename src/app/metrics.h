#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "executor/outcome.h"

namespace glovebox {

// What an operator wants to see of a server, in the text format of Prometheus.
//
// Thread rule: one thread. No label holds text that a client chose.
class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // An execution ended.
  void OnExecution(const Outcome& outcome);
  // A request was answered: with a result (0), or with that JSON-RPC error.
  void OnRequest(std::string_view method, int error_code, double seconds);

  // What others count; looked at when somebody reads.
  struct Readings {
    std::size_t boxes_running = 0;
    std::size_t boxes_max = 0;
    std::size_t executions_waiting = 0;
    std::size_t http_connections = 0;
    std::size_t http_sessions = 0;
    std::size_t tasks = 0;
    std::uint64_t refusals = 0;  // since the start
  };
  std::string Text(const Readings& now);

 private:
  class Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace glovebox

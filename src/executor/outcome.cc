#include "executor/outcome.h"

#include <algorithm>

namespace glovebox {

std::string_view StatusName(ExecutionStatus status) {
  switch (status) {
    case ExecutionStatus::kCompleted: return "completed";
    case ExecutionStatus::kFailed: return "failed";
    case ExecutionStatus::kTimedOut: return "timed_out";
    case ExecutionStatus::kLimitExceeded: return "limit_exceeded";
    case ExecutionStatus::kViolated: return "violated";
    case ExecutionStatus::kCancelled: return "cancelled";
    case ExecutionStatus::kSetupFailed: return "setup_failed";
  }
  return "unknown";
}

bool IsCompileError(const PythonError& error) {
  if (error.type != "SyntaxError" && error.type != "IndentationError" && error.type != "TabError") {
    return false;
  }
  std::string_view rest = error.traceback;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with("  File \"") && line.find(", in ") != std::string_view::npos) return false;
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return true;
}

std::string_view ErrorCategory(const Outcome& outcome) {
  switch (outcome.status) {
    case ExecutionStatus::kCompleted: return "";
    case ExecutionStatus::kTimedOut: return "timeout";
    case ExecutionStatus::kLimitExceeded: return "resource";
    case ExecutionStatus::kViolated: return "security";
    case ExecutionStatus::kCancelled: return "cancelled";
    case ExecutionStatus::kSetupFailed: return "internal";
    case ExecutionStatus::kFailed: break;
  }
  const auto& limits = outcome.limits_hit;
  if (std::find(limits.begin(), limits.end(), "memory") != limits.end()) return "resource";
  return outcome.error && IsCompileError(*outcome.error) ? "syntax" : "runtime";
}

}  // namespace glovebox

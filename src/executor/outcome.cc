#include "executor/outcome.h"

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

}  // namespace glovebox

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"
#include "python/wire/language.h"
#include "python/wire/value.h"

namespace glovebox {

// How an execution ended. The same words in the API, logs, metrics and documents.
enum class ExecutionStatus : std::uint8_t {
  kCompleted,      // ran to its end, also when it swallowed a refusal
  kFailed,         // uncaught exception, non-zero sys.exit, a crash by its own signal
  kTimedOut,       // wall or CPU deadline
  kLimitExceeded,  // ended by a limit: memory, output flood, event flood
  kViolated,       // refused by the language layer, or killed by the filter
  kCancelled,      // the caller withdrew
  kSetupFailed,    // we could not build the box
};

std::string_view StatusName(ExecutionStatus status);

// What holds the memory limit and measures what was used.
enum class LimitsTier : std::uint8_t {
  kCgroup,      // the kernel, exactly
  kSupervisor,  // rlimits, and the server looking every few milliseconds: limit + 25 %
};

// An uncaught Python exception (or what stands for one when the process died without telling).
struct PythonError {
  std::string type;       // "ZeroDivisionError"
  std::string message;    // "division by zero"; may be empty
  std::string traceback;  // the user's frames only
  int line = 0;           // in the user's code; 0 when unknown
  int offset = 0;         // of a syntax error: its column, 1-based; 0 when unknown
  std::string text;       // of a syntax error: its line; empty when unknown
};

// One captured stream: the head up to the limit and the last bytes beyond it.
struct CapturedStream {
  std::string text;  // valid UTF-8; ends with kTruncationMarker when cut
  std::string tail;  // last kTailBytes of the whole stream; empty unless cut
  std::uint64_t bytes_dropped = 0;
  bool truncated() const { return bytes_dropped > 0; }
};

inline constexpr std::string_view kTruncationMarker = "\n[Output truncated]";
inline constexpr std::size_t kTailBytes = 4096;

// Everything known about one execution. Facts that matter (status, times, memory, limits) were
// measured outside the box; value, variables and error are the box's own words.
struct Outcome {
  ExecutionStatus status = ExecutionStatus::kSetupFailed;
  std::string execution_id;  // UUID, version 4
  std::optional<int> exit_code;
  std::optional<int> signal;
  CapturedStream stdout_stream;
  CapturedStream stderr_stream;
  wire::Value value;       // of the final expression, or of result/output/_; null if none
  std::string value_repr;  // repr() of the final expression; empty when there was none or None
  std::string value_text;  // str() of a value that is more than its plain data
  std::vector<std::string> value_notes;  // what the plain data does not say
  std::vector<std::string> variables;    // top-level names in order of definition
  std::optional<PythonError> error;
  std::string message;       // for people: why it was not `completed`; empty when it was
  double wall_seconds = 0;   // from hand-over to the end
  double cpu_seconds = 0;    // all processes of the box
  double queue_seconds = 0;  // before hand-over: waiting for a place, and the birth of the box
  std::uint64_t peak_memory_bytes = 0;  // beyond the shared interpreter
  std::vector<std::string> limits_hit;  // "wall", "cpu", "memory", "pids", "output", "events"
  std::vector<Event> events;
  std::uint64_t events_dropped = 0;
  std::vector<std::string> missing_walls;  // empty at full strength
  std::string container;  // what held it besides the box: "gVisor (runsc, ...)"; empty: nothing
  std::vector<wire::Finding> findings;         // of the language layer
  std::optional<wire::CodeAnalysis> analysis;  // of a validation
  LimitsTier limits_tier = LimitsTier::kCgroup;
};

// Whether the code did not compile, as opposed to code that ran and raised a SyntaxError (from
// eval, say).
bool IsCompileError(const PythonError& error);

// What kind of failure it was, for people and statistics: "syntax", "runtime", "timeout",
// "resource", "security", "cancelled" or "internal"; empty when it completed.
std::string_view ErrorCategory(const Outcome& outcome);

}  // namespace glovebox

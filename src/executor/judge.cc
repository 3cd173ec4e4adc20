// From what is known about a box to what the caller is told.

#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "executor/box_run.h"

namespace glovebox {
namespace {

std::string Bytes(std::uint64_t bytes) {
  if (bytes % (1u << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  return std::to_string(bytes) + " bytes";
}

std::string Seconds(std::uint32_t milliseconds) {
  if (milliseconds % 1000 == 0) return std::to_string(milliseconds / 1000) + " seconds";
  return std::to_string(milliseconds) + " milliseconds";
}

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

void AddLimit(Outcome& outcome, const char* limit) {
  for (const std::string& hit : outcome.limits_hit) {
    if (hit == limit) return;
  }
  outcome.limits_hit.emplace_back(limit);
}

void Set(Outcome& outcome, ExecutionStatus status, std::string message) {
  outcome.status = status;
  outcome.message = std::move(message);
}

void JudgeMemory(const ExecutionRequest& request, Outcome& outcome) {
  AddLimit(outcome, "memory");
  Set(outcome, ExecutionStatus::kLimitExceeded,
      "The code used more memory than its limit of " + Bytes(request.limits.memory_bytes_max));
}

// The server ended it.
void JudgeKill(const BoxReport& report, const ExecutionRequest& request, Outcome& outcome) {
  switch (report.killed) {
    case KillReason::kWallClock:
      AddLimit(outcome, "wall");
      Set(outcome, ExecutionStatus::kTimedOut,
          "Execution timed out after " + Seconds(request.limits.wall_ms_max) + " (timeout)");
      return;
    case KillReason::kCpuClock:
      AddLimit(outcome, "cpu");
      Set(outcome, ExecutionStatus::kTimedOut,
          "Execution used more than " + Seconds(request.limits.cpu_ms_max) + " of CPU (timeout)");
      return;
    case KillReason::kMemory: JudgeMemory(request, outcome); return;
    case KillReason::kOutput:
      AddLimit(outcome, "output");
      Set(outcome, ExecutionStatus::kLimitExceeded,
          "The code wrote far more output than the limit of " +
              std::to_string(request.limits.output_chars_max) + " characters");
      return;
    case KillReason::kEvents:
      AddLimit(outcome, "events");
      Set(outcome, ExecutionStatus::kLimitExceeded,
          "The code attempted refused system calls " +
              std::to_string(sandbox::kCallEventsBeforeEnd) + " times");
      return;
    case KillReason::kProtocol:
      Set(outcome, ExecutionStatus::kFailed,
          "The code wrote to the box's own channel; its result cannot be told from a forgery");
      return;
    case KillReason::kCancelled:
      Set(outcome, ExecutionStatus::kCancelled, "The execution was cancelled");
      return;
    case KillReason::kNone: return;
  }
}

// Memory that was asked for and refused: mmap says it with an errno where the heap says it by type.
bool IsOutOfMemory(const wire::RunError& error) {
  return error.type == "MemoryError" ||
         (error.type == "OSError" && error.message.starts_with("[Errno 12]"));
}

// It told how it ended.
void JudgeResult(const wire::RunResult& result, Outcome& outcome) {
  outcome.exit_code = result.exit_code;
  const bool succeeded = result.ending == wire::Ending::kReturned ||
                         (result.ending == wire::Ending::kExited && result.exit_code == 0);
  outcome.status = succeeded ? ExecutionStatus::kCompleted : ExecutionStatus::kFailed;
  if (result.ending == wire::Ending::kExited && !succeeded) {
    outcome.message = "The code called sys.exit(" + std::to_string(result.exit_code) + ")";
  }
  if (result.ending == wire::Ending::kRefused) outcome.status = ExecutionStatus::kViolated;
  if (!result.error.type.empty()) {
    outcome.error = PythonError{result.error.type, result.error.message, result.error.traceback,
                                result.error.line, result.error.offset,  result.error.text};
    outcome.message = result.error.type;
    if (!result.error.message.empty()) outcome.message += ": " + result.error.message;
    if (IsOutOfMemory(result.error)) AddLimit(outcome, "memory");
  }
  outcome.findings = result.findings;
  outcome.analysis = result.analysis;
  outcome.value = result.value;
  outcome.value_repr = result.value_repr;
  outcome.value_text = result.value_text;
  outcome.value_notes = result.value_notes;
  outcome.variables = result.variables;
  outcome.events_dropped = result.events_dropped;
  for (const wire::RunEvent& event : result.events) {
    outcome.events.push_back({event.seconds, EventSource::kInterpreter, "interpreter",
                              event.operation, event.target, event.line, event.refused, event.rule,
                              event.remedy});
  }
}

// It ended without a word: what init saw is all there is.
void JudgeWaitStatus(int wait_status, Outcome& outcome) {
  if (WIFEXITED(wait_status)) {
    outcome.exit_code = WEXITSTATUS(wait_status);
    Set(outcome, ExecutionStatus::kFailed,
        "The process ended itself with exit code " + std::to_string(*outcome.exit_code) +
            " before the code had finished");
    return;
  }
  const int signal = WTERMSIG(wait_status);
  outcome.signal = signal;
  if (signal == SIGSYS) {
    // The filter ends nobody for anything else.
    Event event;
    event.source = EventSource::kKernel;
    event.layer = "seccomp";
    event.operation = "foreign system call";
    event.refused = true;
    event.rule = "calls of another architecture or of x32 pass every rule made for this one";
    event.remedy = "nothing allows it in a box";
    outcome.events.push_back(std::move(event));
    Set(outcome, ExecutionStatus::kViolated, "The system-call filter ended the process (SIGSYS)");
  } else {
    Set(outcome, ExecutionStatus::kFailed, "The process was ended by " + SignalName(signal));
  }
}

// A container went without a word. A kernel in user space that cannot have another thread ends.
void JudgeContainerDeath(const BoxReport& report, const ExecutionRequest& request,
                         Outcome& outcome) {
  if (report.usage && report.usage->processes_refused > 0) {
    Set(outcome, ExecutionStatus::kLimitExceeded,
        "The code started more processes and threads than its limit of " +
            std::to_string(request.limits.processes_max));
    return;
  }
  Set(outcome, ExecutionStatus::kFailed, "The container ended before the code had finished");
}

// The first that holds is the one that is told.
void JudgeEnding(const BoxReport& report, const ExecutionRequest& request, Outcome& outcome) {
  if (report.killed == KillReason::kCancelled) return JudgeKill(report, request, outcome);
  // Whichever of its processes was killed: what the others then did is no result.
  const bool killed_by_memory = report.usage && report.usage->oom_kills > 0;
  if (killed_by_memory) return JudgeMemory(request, outcome);
  if (report.killed != KillReason::kNone) return JudgeKill(report, request, outcome);
  if (report.result) return JudgeResult(*report.result, outcome);
  if (report.wait_status) return JudgeWaitStatus(*report.wait_status, outcome);
  if (report.in_container) return JudgeContainerDeath(report, request, outcome);
  Set(outcome, ExecutionStatus::kFailed,
      "The box died with the Python process it came from (glovebox-python)");
}

}  // namespace

Outcome Judge(const BoxReport& report, const ExecutionRequest& request) {
  Outcome outcome;
  outcome.wall_seconds = report.wall_seconds;
  outcome.cpu_seconds = static_cast<double>(report.init_cpu_us) / 1e6;
  outcome.peak_memory_bytes = report.sampled_peak_bytes;
  if (report.usage) {
    outcome.cpu_seconds = static_cast<double>(report.usage->cpu_us) / 1e6;
    outcome.peak_memory_bytes = report.usage->memory_peak_bytes;
    if (report.usage->processes_refused > 0) AddLimit(outcome, "pids");
    if (report.usage->oom_kills > 0) AddLimit(outcome, "memory");
  }
  JudgeEnding(report, request, outcome);
  return outcome;
}

}  // namespace glovebox

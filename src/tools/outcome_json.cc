#include "tools/outcome_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include "base/utf8.h"
#include "policy/profile.h"
#include "tools/value_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

json::array Strings(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

// 30, or 0.5: seconds as a person would write them.
std::string SecondsText(std::uint32_t milliseconds) {
  if (milliseconds % 1000 == 0) return std::to_string(milliseconds / 1000);
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), milliseconds / 1000.0).ptr;
  return std::string(text.data(), end);
}

json::value SecondsValue(std::uint32_t milliseconds) {
  if (milliseconds % 1000 == 0) return milliseconds / 1000;
  return milliseconds / 1000.0;
}

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  for (const std::string& candidate : words) {
    if (candidate == word) return true;
  }
  return false;
}

std::string CompileErrorText(const PythonError& error, const std::string& filename) {
  std::string text = "Syntax error: " + error.message;
  if (error.line <= 0) return text;
  const std::string where = " (" + filename + ", line " + std::to_string(error.line) + ")";
  if (!text.ends_with(where)) text += where;
  return text;
}

std::string TimeoutText(const Outcome& outcome, const ExecutionLimits& limits) {
  const bool cpu = Contains(outcome.limits_hit, "cpu") && limits.cpu_ms_max > 0 &&
                   !Contains(outcome.limits_hit, "wall");
  if (cpu) {
    return "Execution timed out after " + SecondsText(limits.cpu_ms_max) +
           " seconds of CPU time (timeout)";
  }
  return "Execution timed out after " + SecondsText(limits.wall_ms_max) + " seconds (timeout)";
}

// What to say of an ending that brought no Python error and no sentence of its own.
std::string DefaultText(const Outcome& outcome) {
  switch (outcome.status) {
    case ExecutionStatus::kFailed:
      if (outcome.signal) return "Killed by signal " + std::to_string(*outcome.signal);
      if (outcome.exit_code) return "Exited with code " + std::to_string(*outcome.exit_code);
      return "Execution failed";
    case ExecutionStatus::kLimitExceeded: {
      std::string text = "Execution ended by a limit";
      for (std::size_t i = 0; i < outcome.limits_hit.size(); ++i) {
        text += (i == 0 ? ": " : ", ") + outcome.limits_hit[i];
      }
      return text;
    }
    case ExecutionStatus::kViolated: return "Execution ended for a forbidden operation";
    case ExecutionStatus::kCancelled: return "Execution was cancelled";
    case ExecutionStatus::kSetupFailed: return "The box could not be built";
    case ExecutionStatus::kCompleted:
    case ExecutionStatus::kTimedOut: break;
  }
  return "Execution failed";
}

// " (...)" for a module that a profile allows and nobody installed; "" for everything else.
std::string PackageHint(const PythonError& error) {
  constexpr std::string_view kBefore = "No module named '";
  if (error.type != "ModuleNotFoundError" || !error.message.starts_with(kBefore)) return "";
  const std::string name = error.message.substr(
      kBefore.size(), error.message.find('\'', kBefore.size()) - kBefore.size());
  for (const policy::Profile& profile : policy::Profiles()) {
    for (const policy::ProfileEntry& entry : profile.modules) {
      if (entry.package.empty() || !policy::IsListed({entry.name}, name)) continue;
      return " (allowed, but not installed on this machine; the Debian package " + entry.package +
             " has it)";
    }
  }
  return "";
}

// Whether the language layer kept the program from starting, as opposed to stopping it later.
bool WasNotStarted(const Outcome& outcome) {
  return outcome.status == ExecutionStatus::kViolated &&
         std::any_of(outcome.findings.begin(), outcome.findings.end(),
                     [](const wire::Finding& finding) { return finding.refuses_program; });
}

// Whether a refused import ended the program.
bool IsBlockedImport(const Outcome& outcome) {
  return outcome.status == ExecutionStatus::kViolated && outcome.error &&
         outcome.error->type == "ImportError";
}

std::string ErrorText(const Outcome& outcome, const ExecutionRequest& request) {
  if (WasNotStarted(outcome)) return "Code contains restricted operations";
  if (IsBlockedImport(outcome)) return outcome.error->message;
  if (outcome.status == ExecutionStatus::kTimedOut) return TimeoutText(outcome, request.limits);
  const bool python_speaks = outcome.status == ExecutionStatus::kFailed && outcome.error;
  if (python_speaks) {
    const PythonError& error = *outcome.error;
    if (IsCompileError(error)) return CompileErrorText(error, request.filename);
    if (error.message.empty()) return error.type;
    return error.type + ": " + error.message + PackageHint(error);
  }
  return outcome.message.empty() ? DefaultText(outcome) : outcome.message;
}

// Adds the repr of the final expression to what was printed, within the limit on output.
CapturedStream WithValue(const CapturedStream& printed, const std::string& value_repr,
                         std::size_t chars_max) {
  if (value_repr.empty() || printed.truncated()) return printed;
  CapturedStream stream = printed;
  if (!stream.text.empty() && stream.text.back() != '\n') stream.text += '\n';
  stream.text += value_repr;
  const std::size_t kept = PrefixOfCodePoints(stream.text, chars_max);
  if (kept == stream.text.size()) return stream;
  stream.bytes_dropped = stream.text.size() - kept;
  std::size_t tail = stream.text.size() - std::min(stream.text.size(), kTailBytes);
  while (tail < stream.text.size() && (stream.text[tail] & 0xC0) == 0x80) ++tail;
  stream.tail = stream.text.substr(tail);
  stream.text.resize(kept);
  stream.text += kTruncationMarker;
  return stream;
}

void AddTail(json::object& document, const CapturedStream& stream, const std::string& name) {
  if (!stream.truncated()) return;
  document[name + "_tail"] = stream.tail;
  document[name + "_bytes_dropped"] = stream.bytes_dropped;
}

json::array FindingLines(const Outcome& outcome) {
  json::array lines;
  for (const wire::Finding& finding : outcome.findings) {
    if (!finding.refuses_program) continue;
    lines.emplace_back("Line " + std::to_string(finding.line) + ": " + finding.what);
  }
  return lines;
}

json::array FindingsToJson(const Outcome& outcome) {
  json::array list;
  for (const wire::Finding& finding : outcome.findings) {
    list.push_back({{"line", finding.line},
                    {"column", finding.column},
                    {"rule", finding.rule},
                    {"what", finding.what},
                    {"why", finding.why},
                    {"instead", finding.instead}});
  }
  return list;
}

void AddError(json::object& document, const Outcome& outcome, const ExecutionRequest& request) {
  if (outcome.status == ExecutionStatus::kCompleted) return;
  document["error"] = ErrorText(outcome, request);
  document["error_category"] = ErrorCategory(outcome);
  if (WasNotStarted(outcome)) document["validation_errors"] = FindingLines(outcome);
  if (IsBlockedImport(outcome)) document["security_event"] = "blocked_import";
  if (outcome.status == ExecutionStatus::kTimedOut) {
    document["timeout"] = SecondsValue(request.limits.wall_ms_max);
  }
  if (!outcome.error) return;
  document["error_type"] = outcome.error->type;
  if (outcome.error->line > 0) document["error_line"] = outcome.error->line;
  document["traceback"] = outcome.error->traceback;
  if (IsCompileError(*outcome.error)) document["validation_errors"] = nullptr;
}

const char* SourceName(EventSource source) {
  switch (source) {
    case EventSource::kKernel: return "kernel";
    case EventSource::kInterpreter: return "interpreter";
    case EventSource::kEgress: return "egress";
  }
  return "unknown";
}

json::object EventToJson(const Event& event) {
  json::object object = {{"time", event.seconds},  {"source", SourceName(event.source)},
                         {"layer", event.layer},   {"operation", event.operation},
                         {"target", event.target}, {"refused", event.refused}};
  if (event.line > 0) object["line"] = event.line;
  if (!event.rule.empty()) object["rule"] = event.rule;
  if (!event.remedy.empty()) object["remedy"] = event.remedy;
  if (event.source == EventSource::kEgress) {
    object["bytes_sent"] = event.bytes_sent;
    object["bytes_received"] = event.bytes_received;
  }
  return object;
}

// Names whose refusal existing clients do not expect to hear of.
bool IsSilent(std::string_view module) {
  constexpr std::array<std::string_view, 5> kNames = {"os", "sys", "subprocess", "__builtin__",
                                                      "__builtins__"};
  return std::find(kNames.begin(), kNames.end(), module) != kNames.end();
}

// Refused imports that the program lived on with, in the words existing clients look for.
json::value SecurityWarnings(const Outcome& outcome) {
  json::array warnings;
  for (const Event& event : outcome.events) {
    if (event.refused && event.operation == "import" && !IsSilent(event.target)) {
      warnings.emplace_back("Blocked import attempt: " + event.target);
    }
  }
  if (warnings.empty()) return nullptr;
  return warnings;
}

}  // namespace

json::object OutcomeToJson(const Outcome& outcome, const ExecutionRequest& request) {
  const CapturedStream printed =
      WithValue(outcome.stdout_stream, outcome.value_repr, request.limits.output_chars_max);
  json::object document;
  document["success"] = outcome.status == ExecutionStatus::kCompleted;
  document["status"] = StatusName(outcome.status);
  AddError(document, outcome, request);
  document["stdout"] = printed.text;
  document["stderr"] = outcome.stderr_stream.text;
  document["result"] = ValueToJson(outcome.value);
  if (!outcome.value_text.empty()) document["result_text"] = outcome.value_text;
  if (!outcome.value_notes.empty()) document["result_notes"] = Strings(outcome.value_notes);
  document["execution_time"] = outcome.wall_seconds;
  document["execution_id"] = outcome.execution_id;
  document["variables"] = Strings(outcome.variables);
  document["security_warnings"] = SecurityWarnings(outcome);
  if (outcome.exit_code) document["exit_code"] = *outcome.exit_code;
  if (outcome.signal) document["signal"] = *outcome.signal;
  document["limits_hit"] = Strings(outcome.limits_hit);
  document["peak_memory_bytes"] = outcome.peak_memory_bytes;
  document["cpu_time"] = outcome.cpu_seconds;
  document["queue_time"] = outcome.queue_seconds;
  json::array events;
  for (const Event& event : outcome.events) events.push_back(EventToJson(event));
  document["security_events"] = std::move(events);
  if (outcome.events_dropped > 0) document["security_events_dropped"] = outcome.events_dropped;
  if (!outcome.findings.empty()) document["findings"] = FindingsToJson(outcome);
  document["truncated"] = printed.truncated() || outcome.stderr_stream.truncated();
  AddTail(document, printed, "stdout");
  AddTail(document, outcome.stderr_stream, "stderr");
  document["limits_tier"] = outcome.limits_tier == LimitsTier::kCgroup ? "cgroup" : "supervisor";
  if (!outcome.container.empty()) document["container"] = outcome.container;
  if (!outcome.missing_walls.empty()) document["missing_walls"] = Strings(outcome.missing_walls);
  return document;
}

}  // namespace glovebox

#include "tools/outcome_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include "base/utf8.h"

namespace glovebox {
namespace {

namespace json = boost::json;

template <typename... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};
template <typename... Kinds>
Overloaded(Kinds...) -> Overloaded<Kinds...>;  // Clang 14 does not deduce aggregates by itself

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

// Whether the code did not compile, as opposed to code that ran and raised a SyntaxError (from
// eval, say): only what ran has a frame in its traceback.
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

std::string ErrorText(const Outcome& outcome, const ExecutionRequest& request) {
  if (outcome.status == ExecutionStatus::kTimedOut) return TimeoutText(outcome, request.limits);
  const bool python_speaks = outcome.status == ExecutionStatus::kFailed && outcome.error;
  if (python_speaks) {
    const PythonError& error = *outcome.error;
    if (IsCompileError(error)) return CompileErrorText(error, request.filename);
    return error.message.empty() ? error.type : error.type + ": " + error.message;
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

void AddError(json::object& document, const Outcome& outcome, const ExecutionRequest& request) {
  if (outcome.status == ExecutionStatus::kCompleted) return;
  document["error"] = ErrorText(outcome, request);
  if (outcome.status == ExecutionStatus::kTimedOut) {
    document["timeout"] = SecondsValue(request.limits.wall_ms_max);
  }
  if (!outcome.error) return;
  document["error_type"] = outcome.error->type;
  if (outcome.error->line > 0) document["error_line"] = outcome.error->line;
  document["traceback"] = outcome.error->traceback;
  if (IsCompileError(*outcome.error)) document["validation_errors"] = nullptr;
}

json::object EventToJson(const Event& event) {
  json::object object = {
      {"time", event.seconds},
      {"source", event.source == EventSource::kKernel ? "kernel" : "interpreter"},
      {"layer", event.layer},
      {"operation", event.operation},
      {"target", event.target},
      {"refused", event.refused}};
  if (event.line > 0) object["line"] = event.line;
  if (!event.rule.empty()) object["rule"] = event.rule;
  if (!event.remedy.empty()) object["remedy"] = event.remedy;
  return object;
}

// Refused imports that the program lived on with, in the words existing clients look for.
json::value SecurityWarnings(const Outcome& outcome) {
  json::array warnings;
  for (const Event& event : outcome.events) {
    if (event.refused && event.operation == "import") {
      warnings.emplace_back("Blocked import attempt: " + event.target);
    }
  }
  if (warnings.empty()) return nullptr;
  return warnings;
}

}  // namespace

json::value ValueToJson(const wire::Value& value) {
  return std::visit(Overloaded{[](std::monostate) { return json::value(nullptr); },
                               [](double number) {
                                 return std::isfinite(number) ? json::value(number)
                                                              : json::value(nullptr);
                               },
                               [](const wire::Value::List& list) {
                                 json::array array;
                                 array.reserve(list.size());
                                 for (const wire::Value& element : list)
                                   array.push_back(ValueToJson(element));
                                 return json::value(std::move(array));
                               },
                               [](const wire::Value::Dict& dict) {
                                 json::object object;
                                 object.reserve(dict.size());
                                 for (const auto& [key, member] : dict)
                                   object[key] = ValueToJson(member);
                                 return json::value(std::move(object));
                               },
                               [](const auto& plain) { return json::value(plain); }},
                    value.data);
}

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
  document["truncated"] = printed.truncated() || outcome.stderr_stream.truncated();
  AddTail(document, printed, "stdout");
  AddTail(document, outcome.stderr_stream, "stderr");
  document["limits_tier"] = outcome.limits_tier == LimitsTier::kCgroup ? "cgroup" : "supervisor";
  if (!outcome.missing_walls.empty()) document["missing_walls"] = Strings(outcome.missing_walls);
  return document;
}

}  // namespace glovebox

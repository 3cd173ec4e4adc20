#include <string>
#include <string_view>

#include <boost/json/array.hpp>

#include "base/text.h"
#include "tools/execute_code_arguments.h"
#include "tools/schema.h"

namespace glovebox {
namespace {

namespace json = boost::json;

// In one piece, as the model reads it: clients cut descriptions at about two thousand characters.
constexpr std::string_view kWhatItIs =
    R"(Runs Python code in a fresh, sealed box and returns what it printed and the value it made.
Use it for calculations, data processing, parsing, simulations, and to check code by running it.
Each call starts from nothing: no variables, imports or files survive from one call to the next, so
send complete programs. It is real CPython; which modules may be imported depends on `profile`.
There is no network (with the profile network: only the hosts that the operator allows), no other
program can be started, and of the host nothing is visible but the Python runtime. Files can be
written in /work and /tmp only and vanish when the call ends: print or return what you need.
To return a value, make it the last expression of the code, or assign it to a variable named result.
JSON-like values come back as JSON in `result`, others as text. Top-level await works.
)";
constexpr std::string_view kHowItEnds =
    R"TEXT( characters.
If the code fails, `success` is false and `error`, `traceback` and `error_line` say why; output
printed before the failure is kept.
Example: {"code": "import math\nmath.factorial(20)"} gives result 2432902008176640000.)TEXT";

std::string ProfilesText(const policy::ProfileOffer& offer) {
  std::string text = "Profiles (default " + offer.Default().name() + "):";
  for (const policy::Profile& profile : policy::Profiles()) {
    if (!offer.is_enabled(profile.name)) continue;
    text += " " + profile.name + " = " + profile.summary + ".";
  }
  return text + " Join several with +. get_sandbox_info lists the modules.\n";
}

std::string Description(const RunLimits& limits, const policy::ProfileOffer& offer) {
  return std::string(kWhatItIs) + ProfilesText(offer) +
         "A run is ended after `timeout` seconds (default " +
         std::to_string(limits.timeout_s_default) + ", at most " +
         std::to_string(limits.timeout_s_max) + ") or beyond `memory_limit` (default " +
         SizeText(offer.Default().memory_bytes) + ", at most " + SizeText(limits.memory_bytes_max) +
         "); printed output is cut at " + std::to_string(limits.output_chars_max) +
         std::string(kHowItEnds);
}

json::object Input(const RunLimits& limits, const policy::ProfileOffer& offer) {
  json::object code = Property("string", "Python code to execute");
  json::object timeout = Property("integer", "Seconds after which the run is ended.");
  timeout["minimum"] = 1;
  timeout["maximum"] = limits.timeout_s_max;
  timeout["default"] = limits.timeout_s_default;
  json::object memory = Property(
      "string", "Memory the run may use: an integer with an optional unit b, k, m or g, from " +
                    SizeText(limits.memory_bytes_min) + " to " + SizeText(limits.memory_bytes_max) +
                    ".");
  memory["pattern"] = "^[0-9]+[bkmgBKMG]?$";
  memory["default"] = SizeText(offer.Default().memory_bytes);
  json::object capture =
      Property("boolean",
               "Whether to return what the code printed. When false, stdout and stderr "
               "come back empty.");
  capture["default"] = true;
  json::object profile =
      Property("string", "Which modules and how much of Python the code may use; see above.");
  profile["default"] = offer.Default().name();
  json::object imports =
      ListProperty("string", "If not empty: the only modules of the profile that the code needs.");
  imports["default"] = json::array();
  json::object container =
      Property("boolean",
               "Run in an OCI container, under gVisor where it is installed, with the same answer. "
               "Refused where the operator offers none; nothing weaker runs instead.");
  container["default"] = false;
  json::object globals =
      Property("object", "Names and JSON values that are variables when the code starts.");
  globals["default"] = json::object();
  json::object input = Property("string", "Text that input() and sys.stdin read.");
  input["default"] = "";

  json::object properties;
  properties["code"] = std::move(code);
  properties["timeout"] = std::move(timeout);
  properties["memory_limit"] = std::move(memory);
  properties["profile"] = std::move(profile);
  properties["allowed_imports"] = std::move(imports);
  properties["global_variables"] = std::move(globals);
  properties["capture_output"] = std::move(capture);
  properties["use_container"] = std::move(container);
  properties["stdin"] = std::move(input);
  return InputSchema(std::move(properties), {"code"});
}

json::object OutputProperties() {
  json::object status =
      Property("string", "How the run ended. Everything but completed means success false.");
  status["enum"] = {"completed", "failed",    "timed_out",   "limit_exceeded",
                    "violated",  "cancelled", "setup_failed"};
  json::object event = {{"type", "object"}};
  json::object events = {
      {"type", "array"},
      {"items", std::move(event)},
      {"description", "Forbidden things the code tried, and what stopped them."}};
  json::object all;
  all["success"] = Property("boolean", "Whether the code ran to its end without an error.");
  all["status"] = std::move(status);
  all["error"] = Property("string", "Why it failed: \"Type: message\", or a sentence.");
  json::object category = Property("string", "What kind of failure it was.");
  category["enum"] = {"syntax",   "runtime",   "timeout", "resource",
                      "security", "cancelled", "internal"};
  all["error_category"] = std::move(category);
  all["error_type"] = Property("string", "Name of the exception that ended the code.");
  all["error_line"] = Property("integer", "Line of the code at which it failed.");
  all["traceback"] = Property("string", "Python traceback with the code's own frames.");
  all["validation_errors"] = AnyProperty("Findings when the code was not run; null if none.");
  all["timeout"] = Property("number", "The time limit that was reached, in seconds.");
  all["stdout"] = Property("string", "What was printed, and the repr of the last expression.");
  all["stderr"] = Property("string", "What was written to stderr.");
  all["result"] = AnyProperty("The value of the last expression or of the variable `result`.");
  all["result_text"] = Property("string", "The result as Python shows it, of tables and arrays.");
  all["result_notes"] = ListProperty("string", "What `result` could not say in JSON.");
  all["execution_time"] = Property("number", "Wall time of the run in seconds.");
  all["execution_id"] = Property("string", "UUID of this run.");
  all["variables"] = ListProperty("string", "Top-level names the code defined, in order.");
  all["security_warnings"] = AnyProperty("List of warnings, or null.");
  all["findings"] = ListProperty(
      "object", "What the language layer refused: line, column, rule, what, why, instead.");
  all["security_event"] = Property("string", "blocked_import: an import was refused.");
  all["exit_code"] = Property("integer", "Exit code of the process.");
  all["signal"] = Property("integer", "Signal that ended the process.");
  all["limits_hit"] = ListProperty("string", "Limits reached: wall, cpu, memory, pids, output.");
  all["peak_memory_bytes"] = Property("integer", "Most memory in use at one time, in bytes.");
  all["cpu_time"] = Property("number", "CPU time in seconds.");
  all["queue_time"] = Property("number", "Seconds the run waited for its turn.");
  all["security_events"] = std::move(events);
  all["security_events_dropped"] = Property("integer", "Further such events that are not listed.");
  all["truncated"] = Property("boolean", "Whether stdout or stderr was cut.");
  all["limits_tier"] = Property("string", "What holds the memory limit: cgroup or supervisor.");
  all["stdout_tail"] = Property("string", "The last part of a stdout that was cut.");
  all["stderr_tail"] = Property("string", "The last part of a stderr that was cut.");
  all["stdout_bytes_dropped"] = Property("integer", "Bytes cut from stdout.");
  all["stderr_bytes_dropped"] = Property("integer", "Bytes cut from stderr.");
  all["missing_walls"] = ListProperty("string", "Protections this host could not provide.");
  all["container"] = Property("string", "The container runtime that held the run, if one did.");
  return all;
}

}  // namespace

mcp::ToolDefinition ExecuteCodeDefinition(const RunLimits& limits,
                                          const policy::ProfileOffer& offer) {
  mcp::ToolDefinition tool;
  tool.name = "execute_code";
  tool.title = "Run Python code";
  tool.description = Description(limits, offer);
  tool.input_schema = Input(limits, offer);
  tool.output_schema = OutputSchema(OutputProperties(), {"success", "status", "execution_id"});
  tool.icons = ToolIcons();
  tool.tasks = mcp::TaskSupport::kOptional;
  tool.annotations = RunsInABox();
  return tool;
}

}  // namespace glovebox

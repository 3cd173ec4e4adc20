#include "tools/execute_code_arguments.h"

#include <cmath>
#include <optional>
#include <string>

#include "base/text.h"
#include "tools/arguments.h"

namespace glovebox {
namespace {

namespace json = boost::json;

// JSON has one kind of number: 30.0 is an integer, too.
std::optional<std::int64_t> AsInteger(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (!value.is_double()) return std::nullopt;
  const double number = value.get_double();
  if (std::trunc(number) != number || std::abs(number) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

Result<std::uint32_t> ReadTimeout(const json::object& arguments, const RunLimits& limits) {
  const json::value* value = arguments.if_contains("timeout");
  if (value == nullptr) return limits.timeout_s_default;
  const auto seconds = AsInteger(*value);
  if (!seconds || *seconds < 1 || *seconds > limits.timeout_s_max) {
    return WrongArgument(
        "timeout", "an integer from 1 to " + std::to_string(limits.timeout_s_max) + " (seconds)",
        *value);
  }
  return static_cast<std::uint32_t>(*seconds);
}

Result<std::uint64_t> ReadMemoryLimit(const json::object& arguments, const RunLimits& limits) {
  const json::value* value = arguments.if_contains("memory_limit");
  if (value == nullptr) return limits.memory_bytes_default;
  const std::string range =
      SizeText(limits.memory_bytes_min) + " to " + SizeText(limits.memory_bytes_max);
  if (!value->is_string())
    return WrongArgument("memory_limit", "a string such as \"128m\"", *value);
  const auto bytes = ParseSize(value->get_string());
  if (!bytes) return WrongArgument("memory_limit", bytes.error().message(), *value);
  if (*bytes < limits.memory_bytes_min || *bytes > limits.memory_bytes_max) {
    return WrongArgument("memory_limit", "from " + range, *value);
  }
  return *bytes;
}

}  // namespace

Result<ExecuteCodeArguments> ReadExecuteCodeArguments(const json::object& arguments,
                                                      const RunLimits& limits) {
  TRY(CheckArgumentNames(arguments, "execute_code",
                         {"code", "timeout", "memory_limit", "capture_output", "stdin"}));
  ExecuteCodeArguments result;
  result.request.code = TRY(CodeArgument(arguments));
  result.request.stdin_text = TRY(StringArgument(arguments, "stdin")).value_or("");
  result.request.limits.wall_ms_max = TRY(ReadTimeout(arguments, limits)) * 1000;
  result.request.limits.memory_bytes_max = TRY(ReadMemoryLimit(arguments, limits));
  result.request.limits.output_chars_max = limits.output_chars_max;
  if (const json::value* value = arguments.if_contains("capture_output")) {
    if (!value->is_bool()) return WrongArgument("capture_output", "true or false", *value);
    result.capture_output = value->get_bool();
  }
  return result;
}

}  // namespace glovebox

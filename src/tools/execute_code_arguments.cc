#include "tools/execute_code_arguments.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "mcp/json_writer.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 5> kNames = {"code", "timeout", "memory_limit",
                                                    "capture_output", "stdin"};
constexpr std::size_t kShownValueChars = 60;

Error Wrong(std::string_view name, const std::string& rule, const json::value& value) {
  std::string shown = mcp::WriteJson(value);
  if (const std::size_t cut = PrefixOfCodePoints(shown, kShownValueChars); cut < shown.size()) {
    shown.resize(cut);
    shown += "...";
  }
  return Error(Errc::kInvalidArgument,
               "Invalid argument '" + std::string(name) + "': must be " + rule + ", got " + shown);
}

Status CheckNames(const json::object& arguments) {
  for (const auto& argument : arguments) {
    bool known = false;
    for (const std::string_view name : kNames) known = known || argument.key() == name;
    if (known) continue;
    std::string names;
    for (const std::string_view name : kNames) {
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return Error(Errc::kInvalidArgument,
                 "Unknown argument '" + std::string(argument.key().substr(0, kShownValueChars)) +
                     "': execute_code takes " + names);
  }
  return {};
}

Result<std::optional<std::string>> ReadString(const json::object& arguments,
                                              std::string_view name) {
  const json::value* value = arguments.if_contains(name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return Wrong(name, "a string", *value);
  return std::optional<std::string>(std::string(value->get_string()));
}

// JSON has one kind of number: 30.0 is an integer, too.
std::optional<std::int64_t> AsInteger(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (!value.is_double()) return std::nullopt;
  const double number = value.get_double();
  if (std::trunc(number) != number || std::abs(number) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

Result<std::uint32_t> ReadTimeout(const json::object& arguments,
                                  const ExecuteCodeOptions& options) {
  const json::value* value = arguments.if_contains("timeout");
  if (value == nullptr) return options.timeout_s_default;
  const auto seconds = AsInteger(*value);
  if (!seconds || *seconds < 1 || *seconds > options.timeout_s_max) {
    return Wrong("timeout",
                 "an integer from 1 to " + std::to_string(options.timeout_s_max) + " (seconds)",
                 *value);
  }
  return static_cast<std::uint32_t>(*seconds);
}

std::string SizeText(std::uint64_t bytes) { return std::to_string(bytes >> 20) + "m"; }

Result<std::uint64_t> ReadMemoryLimit(const json::object& arguments,
                                      const ExecuteCodeOptions& options) {
  const json::value* value = arguments.if_contains("memory_limit");
  if (value == nullptr) return options.memory_bytes_default;
  const std::string range =
      SizeText(options.memory_bytes_min) + " to " + SizeText(options.memory_bytes_max);
  if (!value->is_string()) return Wrong("memory_limit", "a string such as \"128m\"", *value);
  const auto bytes = ParseSize(value->get_string());
  if (!bytes) return Wrong("memory_limit", bytes.error().message(), *value);
  if (*bytes < options.memory_bytes_min || *bytes > options.memory_bytes_max) {
    return Wrong("memory_limit", "from " + range, *value);
  }
  return *bytes;
}

}  // namespace

Result<ExecuteCodeArguments> ReadExecuteCodeArguments(const json::object& arguments,
                                                      const ExecuteCodeOptions& options) {
  TRY(CheckNames(arguments));
  ExecuteCodeArguments result;
  auto code = TRY(ReadString(arguments, "code"));
  if (!code) {
    return Error(Errc::kInvalidArgument,
                 "Missing argument 'code': must be a string of Python code");
  }
  result.request.code = std::move(*code);
  result.request.stdin_text = TRY(ReadString(arguments, "stdin")).value_or("");
  result.request.limits.wall_ms_max = TRY(ReadTimeout(arguments, options)) * 1000;
  result.request.limits.memory_bytes_max = TRY(ReadMemoryLimit(arguments, options));
  if (const json::value* value = arguments.if_contains("capture_output")) {
    if (!value->is_bool()) return Wrong("capture_output", "true or false", *value);
    result.capture_output = value->get_bool();
  }
  return result;
}

}  // namespace glovebox

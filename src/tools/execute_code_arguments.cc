#include "tools/execute_code_arguments.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tools/arguments.h"
#include "tools/value_json.h"

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

Result<std::uint64_t> ReadMemoryLimit(const json::object& arguments, const RunLimits& limits,
                                      std::uint64_t bytes_default) {
  const json::value* value = arguments.if_contains("memory_limit");
  if (value == nullptr) return bytes_default;
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

Result<bool> ReadFlag(const json::object& arguments, std::string_view name, bool otherwise) {
  const json::value* value = arguments.if_contains(name);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) return WrongArgument(name, "true or false", *value);
  return value->get_bool();
}

Result<std::vector<std::string>> ReadImports(const json::object& arguments) {
  std::vector<std::string> names;
  const json::value* value = arguments.if_contains("allowed_imports");
  if (value == nullptr || value->is_null()) return names;
  const Error wrong = WrongArgument("allowed_imports", "a list of names of modules", *value);
  if (!value->is_array()) return wrong;
  for (const json::value& item : value->get_array()) {
    if (!item.is_string()) return wrong;
    const std::string_view name = Trim(item.get_string());
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

Result<std::shared_ptr<const ChosenProfile>> ReadProfile(const json::object& arguments,
                                                         const ProfileTable& profiles) {
  const std::string profile = TRY(StringArgument(arguments, "profile")).value_or("");
  const std::vector<std::string> imports = TRY(ReadImports(arguments));
  // Apart, so that an error names the right argument.
  auto chosen = profiles.Choose(profile, {});
  if (!chosen && chosen.error().code() == Errc::kInvalidArgument) {
    return WrongArgument("profile", chosen.error().message(), json::string(profile));
  }
  if (!chosen || imports.empty()) return chosen;
  chosen = profiles.Choose(profile, imports);
  if (chosen) return chosen;
  return WrongArgument("allowed_imports", chosen.error().message(),
                       arguments.at("allowed_imports"));
}

bool IsName(std::string_view text) {
  const auto letter = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalpha(byte) != 0 || c == '_' || byte >= 0x80;
  };
  const auto letter_or_digit = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && letter(text[0]) && !text.starts_with("__") &&
         std::all_of(text.begin(), text.end(), letter_or_digit);
}

}  // namespace

Result<wire::Value::Dict> GlobalsArgument(const json::object& arguments,
                                          std::string_view argument) {
  const json::value* value = arguments.if_contains(argument);
  if (value == nullptr || value->is_null()) return wire::Value::Dict();
  if (!value->is_object()) {
    return WrongArgument(argument, "an object of names and values", *value);
  }
  for (const auto& member : value->get_object()) {
    if (IsName(member.key())) continue;
    return WrongArgument(argument,
                         "an object whose keys are names that Python takes, none with __ in front",
                         json::string(member.key()));
  }
  Result<wire::Value> globals = ValueFromJson(*value);
  if (!globals) return WrongArgument(argument, globals.error().message(), *value);
  return std::get<wire::Value::Dict>(std::move(globals->data));
}

Result<ExecuteCodeArguments> ReadExecuteCodeArguments(const json::object& arguments,
                                                      const RunLimits& limits,
                                                      const ProfileTable& profiles) {
  TRY(CheckArgumentNames(arguments, "execute_code",
                         {"code", "timeout", "memory_limit", "use_container", "allowed_imports",
                          "capture_output", "profile", "global_variables", "stdin"}));
  ExecuteCodeArguments result;
  ExecutionRequest& request = result.request;
  request.code = TRY(CodeArgument(arguments));
  request.stdin_text = TRY(StringArgument(arguments, "stdin")).value_or("");
  request.globals = TRY(GlobalsArgument(arguments, "global_variables"));
  request.limits.wall_ms_max = TRY(ReadTimeout(arguments, limits)) * 1000;
  request.limits.output_chars_max = limits.output_chars_max;
  const std::shared_ptr<const ChosenProfile> chosen = TRY(ReadProfile(arguments, profiles));
  request.kind = chosen->choice.box_kind();
  request.language = chosen->language;
  request.limits.memory_bytes_max =
      TRY(ReadMemoryLimit(arguments, limits, chosen->choice.memory_bytes));
  result.capture_output = TRY(ReadFlag(arguments, "capture_output", true));
  request.use_container = TRY(ReadFlag(arguments, "use_container", false));
  return result;
}

}  // namespace glovebox

#include "tools/arguments.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "mcp/json_writer.h"

namespace glovebox {
namespace {

constexpr std::size_t kShownValueChars = 60;

}  // namespace

Error WrongArgument(std::string_view name, const std::string& rule,
                    const boost::json::value& value) {
  std::string shown = mcp::WriteJson(value);
  if (const std::size_t cut = PrefixOfCodePoints(shown, kShownValueChars); cut < shown.size()) {
    shown.resize(cut);
    shown += "...";
  }
  return Error(Errc::kInvalidArgument,
               "Invalid argument '" + std::string(name) + "': must be " + rule + ", got " + shown);
}

Status CheckArgumentNames(const boost::json::object& arguments, std::string_view tool,
                          std::initializer_list<std::string_view> names) {
  for (const auto& argument : arguments) {
    if (std::find(names.begin(), names.end(), argument.key()) != names.end()) continue;
    std::string list;
    for (const std::string_view name : names) {
      list += (list.empty() ? "" : ", ") + std::string(name);
    }
    return Error(Errc::kInvalidArgument,
                 "Unknown argument '" + std::string(argument.key().substr(0, kShownValueChars)) +
                     "': " + std::string(tool) + " takes " + (list.empty() ? "none" : list));
  }
  return {};
}

Result<std::optional<std::string>> StringArgument(const boost::json::object& arguments,
                                                  std::string_view name) {
  const boost::json::value* value = arguments.if_contains(name);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return WrongArgument(name, "a string", *value);
  return std::optional<std::string>(std::string(value->get_string()));
}

Result<std::string> CodeArgument(const boost::json::object& arguments) {
  auto code = TRY(StringArgument(arguments, "code"));
  if (!code) {
    return Error(Errc::kInvalidArgument,
                 "Missing argument 'code': must be a string of Python code");
  }
  return std::move(*code);
}

std::optional<std::string> TooLarge(std::string_view code, std::size_t chars_max) {
  if (CountCodePoints(code) <= chars_max) return std::nullopt;
  const std::string limit = chars_max % 1000 == 0 ? std::to_string(chars_max / 1000) + "KB"
                                                  : std::to_string(chars_max) + " characters";
  return "Code too large (max " + limit + ")";
}

}  // namespace glovebox

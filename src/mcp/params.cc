#include "mcp/params.h"

#include <utility>

namespace glovebox::mcp {

namespace json = boost::json;

template <>
Result<EmptyParams> ParamsFromJson(const json::object&) {
  return EmptyParams{};
}

json::object ToJson(const EmptyResult&, ProtocolVersion) { return {}; }

template <>
Result<PageParams> ParamsFromJson(const json::object& params) {
  return PageParams{TRY(StringField(params, "cursor"))};
}

Error WrongField(std::string_view field, std::string_view rule) {
  return Error(Errc::kInvalidArgument,
               "params." + std::string(field) + " must be " + std::string(rule));
}

Result<const json::object*> ObjectField(const json::object& params, std::string_view field) {
  const json::value* value = params.if_contains(field);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) return WrongField(field, "an object");
  return &value->get_object();
}

Result<std::optional<std::string>> StringField(const json::object& params, std::string_view field) {
  const json::value* value = params.if_contains(field);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return WrongField(field, "a string");
  return std::optional<std::string>(std::string(value->get_string()));
}

Result<std::string> RequiredString(const json::object& params, std::string_view field) {
  auto text = TRY(StringField(params, field));
  if (!text) return WrongField(field, "given");
  return std::move(*text);
}

}  // namespace glovebox::mcp

#include "tools/schema.h"

#include <utility>

#include <boost/json/array.hpp>

#include "base/base64.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::string_view kPicture =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3776ab" )"
    R"(stroke-width="2"><rect x="2" y="4" width="20" height="16" rx="3"/>)"
    R"(<circle cx="8" cy="14" r="3"/><circle cx="16" cy="14" r="3"/><path d="M6 8h12"/></svg>)";

json::object Schema(json::object properties, std::initializer_list<std::string_view> required) {
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  if (required.size() > 0) schema["required"] = json::array(required.begin(), required.end());
  return schema;
}

}  // namespace

json::object Property(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

json::object AnyProperty(std::string_view description) { return {{"description", description}}; }

json::object ListProperty(std::string_view item_type, std::string_view description) {
  return {{"type", "array"}, {"items", {{"type", item_type}}}, {"description", description}};
}

json::object InputSchema(json::object properties,
                         std::initializer_list<std::string_view> required) {
  json::object schema = Schema(std::move(properties), required);
  schema["additionalProperties"] = false;
  return schema;
}

json::object OutputSchema(json::object properties,
                          std::initializer_list<std::string_view> required) {
  return Schema(std::move(properties), required);
}

mcp::ToolAnnotations OnlyTells() {
  return {.read_only_hint = true,
          .destructive_hint = false,
          .idempotent_hint = true,
          .open_world_hint = false};
}

mcp::ToolAnnotations RunsInABox() {
  return {.read_only_hint = false,
          .destructive_hint = false,
          .idempotent_hint = false,
          .open_world_hint = false};
}

std::vector<mcp::Icon> ToolIcons() {
  return {{"data:image/svg+xml;base64," + EncodeBase64(kPicture, Base64::kStandard),
           "image/svg+xml",
           {"any"}}};
}

}  // namespace glovebox

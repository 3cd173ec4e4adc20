#include "mcp/prompt_messages.h"

#include <algorithm>
#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

using Arguments = std::map<std::string, std::string>;

// The strings of `params.<field>`; none when it is absent. `name` is the field's in full.
Result<Arguments> ReadArguments(const json::object& params, std::string_view field,
                                const std::string& name) {
  Arguments result;
  const json::value* value = params.if_contains(field);
  if (value == nullptr) return result;
  if (!value->is_object()) return WrongField(name, "an object");
  for (const auto& member : value->get_object()) {
    if (!member.value().is_string()) {
      return WrongField(name + "." + std::string(member.key()), "a string");
    }
    result.emplace(member.key(), member.value().get_string());
  }
  return result;
}

Result<const json::object*> RequiredObject(const json::object& params, std::string_view field) {
  const json::object* object = TRY(ObjectField(params, field));
  if (object == nullptr) return WrongField(field, "given");
  return object;
}

// The string at params.<outer>.<field>.
Result<std::string> RequiredString(const json::object& object, std::string_view outer,
                                   std::string_view field) {
  const json::value* value = object.if_contains(field);
  if (value == nullptr || !value->is_string()) {
    return WrongField(std::string(outer) + "." + std::string(field), "a string");
  }
  return std::string(value->get_string());
}

}  // namespace

template <>
Result<GetPromptParams> ParamsFromJson(const json::object& params) {
  GetPromptParams result;
  result.name = TRY(RequiredString(params, "name"));
  result.arguments = TRY(ReadArguments(params, "arguments", "arguments"));
  return result;
}

template <>
Result<CompleteParams> ParamsFromJson(const json::object& params) {
  CompleteParams result;
  const json::object* ref = TRY(RequiredObject(params, "ref"));
  const std::string type = TRY(RequiredString(*ref, "ref", "type"));
  if (type == "ref/prompt") {
    result.reference = TRY(RequiredString(*ref, "ref", "name"));
  } else if (type == "ref/resource") {
    result.kind = CompleteParams::Kind::kResourceTemplate;
    result.reference = TRY(RequiredString(*ref, "ref", "uri"));
  } else {
    return WrongField("ref.type", "ref/prompt or ref/resource");
  }
  const json::object* argument = TRY(RequiredObject(params, "argument"));
  result.argument_name = TRY(RequiredString(*argument, "argument", "name"));
  result.argument_value = TRY(RequiredString(*argument, "argument", "value"));
  if (const json::object* context = TRY(ObjectField(params, "context"))) {
    result.known = TRY(ReadArguments(*context, "arguments", "context.arguments"));
  }
  return result;
}

json::object ToJson(const PromptDefinition& prompt, ProtocolVersion version) {
  json::object object = {{"name", prompt.name}};
  AddTitle(object, prompt.title, version);
  AddText(object, "description", prompt.description);
  if (!prompt.arguments.empty()) {
    json::array arguments;
    for (const PromptArgument& argument : prompt.arguments) {
      json::object& entry =
          arguments.emplace_back(json::object{{"name", argument.name}}).get_object();
      AddText(entry, "description", argument.description);
      entry.emplace("required", argument.required);
    }
    object.emplace("arguments", std::move(arguments));
  }
  AddIcons(object, prompt.icons, version);
  return object;
}

json::object ToJson(const GetPromptResult& result, ProtocolVersion version) {
  json::array messages;
  messages.reserve(result.messages.size());
  for (const PromptMessage& message : result.messages) {
    messages.emplace_back(json::object{{"role", message.role == Role::kUser ? "user" : "assistant"},
                                       {"content", ToJson(message.content, version)}});
  }
  json::object object;
  AddText(object, "description", result.description);
  object.emplace("messages", std::move(messages));
  return object;
}

json::object ToJson(const CompleteResult& result, ProtocolVersion) {
  const std::size_t count = std::min(result.values.size(), CompleteResult::kValuesMax);
  const auto begin = result.values.begin();
  json::object completion;
  completion.emplace("values", json::array(begin, begin + static_cast<std::ptrdiff_t>(count)));
  if (result.total) completion.emplace("total", *result.total);
  completion.emplace("hasMore", result.has_more || count < result.values.size());
  return {{"completion", std::move(completion)}};
}

}  // namespace glovebox::mcp

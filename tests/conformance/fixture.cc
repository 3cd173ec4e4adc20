#include "fixture.h"

#include <memory>

#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>

namespace glovebox::conformance {

namespace json = boost::json;

mcp::ToolDefinition Define(std::string name, std::string description, json::object properties,
                           std::initializer_list<std::string_view> required) {
  mcp::ToolDefinition tool;
  tool.name = std::move(name);
  tool.description = std::move(description);
  tool.input_schema.emplace("type", "object");
  tool.input_schema.emplace("properties", std::move(properties));
  if (required.size() > 0) {
    tool.input_schema.emplace("required", json::array(required.begin(), required.end()));
  }
  return tool;
}

json::object Property(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

Result<std::string> StringArgument(const json::object& arguments, std::string_view name) {
  const json::value* value = arguments.if_contains(name);
  if (value == nullptr || !value->is_string()) {
    return Error(Errc::kInvalidArgument,
                 "The argument '" + std::string(name) + "' must be given, as a string");
  }
  return std::string(value->get_string());
}

mcp::CallToolResult TextResult(std::string text) {
  mcp::CallToolResult result;
  result.content.push_back(mcp::Text(std::move(text)));
  return result;
}

mcp::CallToolResult ErrorResult(std::string text) {
  mcp::CallToolResult result = TextResult(std::move(text));
  result.is_error = true;
  return result;
}

void After(const boost::asio::any_io_executor& executor, std::chrono::milliseconds delay,
           const mcp::ToolResponder& responder, std::function<void()> then) {
  const auto timer = std::make_shared<boost::asio::steady_timer>(executor, delay);
  responder.OnCancel([timer] { timer->cancel(); });
  timer->async_wait([timer, then = std::move(then)](const boost::system::error_code& error) {
    if (!error) then();
  });
}

mcp::FormElicitation Form(std::string message, json::object fields) {
  json::array required;
  for (const auto& field : fields) required.emplace_back(field.key());
  json::object schema;
  schema.emplace("type", "object");
  schema.emplace("properties", std::move(fields));
  schema.emplace("required", std::move(required));
  return {std::move(message), std::move(schema)};
}

mcp::SamplingRequest Prompt(std::string_view text, int max_tokens) {
  json::object message = {{"role", "user"}, {"content", {{"type", "text"}, {"text", text}}}};
  mcp::SamplingRequest request;
  request.messages.emplace_back(std::move(message));
  request.max_tokens = max_tokens;
  return request;
}

std::string SampledText(const mcp::InputResponses& inputs, std::string_view key) {
  const json::object* answer = inputs.Find(key);
  const json::value* content = answer != nullptr ? answer->if_contains("content") : nullptr;
  if (content == nullptr || !content->is_object()) return "";
  const json::value* text = content->get_object().if_contains("text");
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : "";
}

std::string FormText(const mcp::InputResponses& inputs, std::string_view key,
                     std::string_view field) {
  const json::object* content = inputs.Accepted(key);
  const json::value* value = content != nullptr ? content->if_contains(field) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

}  // namespace glovebox::conformance

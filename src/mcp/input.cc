#include "mcp/input.h"

#include <utility>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

std::string_view MethodOf(const InputRequest& request) {
  return std::visit(
      Overloaded{[](const FormElicitation&) { return std::string_view("elicitation/create"); },
                 [](const UrlElicitation&) { return std::string_view("elicitation/create"); },
                 [](const SamplingRequest&) { return std::string_view("sampling/createMessage"); },
                 [](const RootsRequest&) { return std::string_view("roots/list"); }},
      request);
}

json::object ParamsOf(const InputRequest& request, ProtocolVersion version) {
  return std::visit(
      Overloaded{
          [](const FormElicitation& form) {
            return json::object{{"message", form.message},
                                {"requestedSchema", form.requested_schema}};
          },
          [version](const UrlElicitation& page) {
            json::object params = {{"mode", "url"}, {"message", page.message}, {"url", page.url}};
            // The modern answer comes under the question's key, so the visit needs no name there.
            if (!IsModern(version)) params.emplace("elicitationId", page.id);
            return params;
          },
          [](const SamplingRequest& sampling) {
            json::object params;
            params.emplace("messages", sampling.messages);
            AddText(params, "systemPrompt", sampling.system_prompt);
            params.emplace("maxTokens", sampling.max_tokens);
            return params;
          },
          [](const RootsRequest&) { return json::object(); }},
      request);
}

bool IsDeclared(const InputRequest& request, const ClientCapabilities& capabilities) {
  return std::visit(
      Overloaded{[&](const FormElicitation&) { return capabilities.elicitation_form; },
                 [&](const UrlElicitation&) { return capabilities.elicitation_url; },
                 [&](const SamplingRequest&) { return capabilities.sampling; },
                 [&](const RootsRequest&) { return capabilities.roots; }},
      request);
}

json::object RequiredCapability(const InputRequest& request) {
  const auto within = [](std::string_view outer, json::object inner) {
    json::object object;
    object.emplace(outer, std::move(inner));
    return object;
  };
  return std::visit(
      Overloaded{[&](const FormElicitation&) { return within("elicitation", within("form", {})); },
                 [&](const UrlElicitation&) { return within("elicitation", within("url", {})); },
                 [&](const SamplingRequest&) { return within("sampling", {}); },
                 [&](const RootsRequest&) { return within("roots", {}); }},
      request);
}

json::object ToJson(const InputRequest& request, ProtocolVersion version) {
  return {{"method", MethodOf(request)}, {"params", ParamsOf(request, version)}};
}

json::object UndeclaredFor(const InputRequired& input, const ClientCapabilities& capabilities) {
  json::object undeclared;
  for (const auto& [key, request] : input.requests) {
    if (IsDeclared(request, capabilities)) continue;
    for (const auto& [name, needed] : RequiredCapability(request)) {
      json::value& known = undeclared.emplace(name, json::object()).first->value();
      for (const auto& part : needed.get_object()) known.get_object().insert(part);
    }
  }
  return undeclared;
}

const json::object* InputResponses::Find(std::string_view key) const {
  const json::value* answer = answers_.if_contains(key);
  return answer != nullptr ? answer->if_object() : nullptr;
}

const json::object* InputResponses::Accepted(std::string_view key) const {
  const json::object* answer = Find(key);
  if (answer == nullptr) return nullptr;
  const json::value* action = answer->if_contains("action");
  if (action == nullptr || *action != "accept") return nullptr;
  const json::value* content = answer->if_contains("content");
  return content != nullptr ? content->if_object() : nullptr;
}

}  // namespace glovebox::mcp

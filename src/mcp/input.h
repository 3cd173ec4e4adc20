#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// What a handler may ask of the client while it works on a request, and the answers.

// A form for the user: a message and a flat JSON Schema of primitive fields.
struct FormElicitation {
  std::string message;
  boost::json::object requested_schema;
};
// A page for the user to visit. `id` names the visit; since 2025-11-25.
struct UrlElicitation {
  std::string message;
  std::string url;
  std::string id;
};
// A completion by the client's model.
struct SamplingRequest {
  boost::json::array messages;  // {role, content} each
  std::string system_prompt;
  int max_tokens = 0;
};
// The folders the client has open.
struct RootsRequest {};

using InputRequest = std::variant<FormElicitation, UrlElicitation, SamplingRequest, RootsRequest>;

std::string_view MethodOf(const InputRequest& request);  // "elicitation/create", ...
boost::json::object ParamsOf(const InputRequest& request, ProtocolVersion version);
bool IsDeclared(const InputRequest& request, const ClientCapabilities& capabilities);
// The capability that `request` needs, as in -32021's data: {"sampling": {}}.
boost::json::object RequiredCapability(const InputRequest& request);

// As in `inputRequests`: {"method": ..., "params": ...}.
boost::json::object ToJson(const InputRequest& request, ProtocolVersion version);

// Questions by key, and what the handler wants to remember until they are answered. `state` travels
// through the client in the modern era: it is signed (request_state.h), not secret.
struct InputRequired {
  std::map<std::string, InputRequest> requests;
  std::string state;
};
// What the questions need and the client did not declare, as in -32021's data; empty when nothing.
boost::json::object UndeclaredFor(const InputRequired& input,
                                  const ClientCapabilities& capabilities);

// The answers of one round by key, as the client sent them: hostile JSON.
class InputResponses {
 public:
  InputResponses() = default;
  explicit InputResponses(boost::json::object answers) : answers_(std::move(answers)) {}

  bool empty() const { return answers_.empty(); }
  // Null when there is no answer under `key`, or none that is an object.
  const boost::json::object* Find(std::string_view key) const;
  // The content of an elicitation that the user accepted; null for any other answer.
  const boost::json::object* Accepted(std::string_view key) const;
  const boost::json::object& all() const { return answers_; }

 private:
  boost::json::object answers_;
};

}  // namespace glovebox::mcp

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/content.h"
#include "mcp/input.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/prompt_messages.h"

namespace glovebox::mcp {

// What a server may ask of us while it works on a request of ours, and who answers. The handlers
// are the same for both eras: requests of the server, or questions in an `input_required` result.

struct ElicitationAnswer {
  enum class Action : std::uint8_t { kAccept, kDecline, kCancel };
  Action action = Action::kDecline;
  boost::json::object content;  // the form's fields, when accepted
};

struct SamplingAnswer {
  ContentBlock content;
  Role role = Role::kAssistant;
  std::string model;
  std::string stop_reason = "endTurn";
};

struct Root {
  std::string uri;   // file://
  std::string name;  // may be empty
};

// Takes the answer to one question: now or later, once. An Error refuses it: in the legacy era the
// server is told, in the modern one the request that led to the question fails. Dropping it
// unanswered is the same.
template <typename Answer>
using Reply = std::function<void(Result<Answer>)>;

// One for each kind of question; what has a handler is declared to the server, what has none is
// refused. Everything in a question is the server's text: show it as such.
struct InputHandlers {
  std::function<void(const FormElicitation&, Reply<ElicitationAnswer>)> form = nullptr;
  std::function<void(const UrlElicitation&, Reply<ElicitationAnswer>)> url = nullptr;
  std::function<void(const SamplingRequest&, Reply<SamplingAnswer>)> sampling = nullptr;
  std::function<void(Reply<std::vector<Root>>)> roots = nullptr;
};

ClientCapabilities CapabilitiesOf(const InputHandlers& handlers);
// As `initialize` and the modern envelope want them.
boost::json::object ToJson(const ClientCapabilities& capabilities, ProtocolVersion version);

bool IsInputMethod(std::string_view method);  // elicitation/create and its kin
// kInvalidArgument names what is missing or of the wrong type.
Result<InputRequest> InputRequestFromJson(std::string_view method,
                                          const boost::json::object& params);

// Puts a question to its handler; `done` gets the result as the protocol has it. kUnsupported when
// there is no handler. `done` runs once; perhaps inside the call.
void AnswerInput(const InputHandlers& handlers, const InputRequest& request,
                 std::function<void(Result<boost::json::object>)> done);

}  // namespace glovebox::mcp

#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/server.h"

namespace glovebox::conformance {

// The tools, prompts and resources that the scenarios of the official MCP conformance suite call by
// name, on the library that the product is made of. Each function adds one group; their names and
// what they must do are the suite's, the wording is ours.
//
// Handlers know nothing of eras: what they ask of the client goes out as requests in one and as an
// `input_required` result in the other.

void AddContentTools(mcp::Server& server);  // kinds of content, progress, logs, schemas, changes
void AddInputTools(mcp::Server& server);    // what asks the client before it answers
void AddTaskTools(mcp::Server& server);     // what goes on as a task
void AddPrompts(mcp::Server& server);
void AddResources(mcp::Server& server);

inline constexpr std::string_view kPngBase64 =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg==";

// A tool whose arguments are `properties`; those named in `required` must be given.
mcp::ToolDefinition Define(std::string name, std::string description,
                           boost::json::object properties = {},
                           std::initializer_list<std::string_view> required = {});
boost::json::object Property(std::string_view type, std::string_view description);

// The argument of that name; kInvalidArgument names it.
Result<std::string> StringArgument(const boost::json::object& arguments, std::string_view name);

mcp::CallToolResult TextResult(std::string text);
mcp::CallToolResult ErrorResult(std::string text);  // is_error: for the model to mend

// Runs `then` after `delay`, unless the request is withdrawn before.
void After(const boost::asio::any_io_executor& executor, std::chrono::milliseconds delay,
           const mcp::ToolResponder& responder, std::function<void()> then);

// A form all of whose fields must be filled in.
mcp::FormElicitation Form(std::string message, boost::json::object fields);
// A question to the client's model.
mcp::SamplingRequest Prompt(std::string_view text, int max_tokens);
// What the model, or the user who accepted a form, said: the text of an answer to Prompt, or the
// string field `field` of an answer to Form. Empty when the answer has none.
std::string SampledText(const mcp::InputResponses& inputs, std::string_view key);
std::string FormText(const mcp::InputResponses& inputs, std::string_view key,
                     std::string_view field);

// Asks until every question has been answered by an object, then replies with what `answered` makes
// of the answers. That a user said no is an answer, too.
template <typename ResultType>
void AskThen(const mcp::Responder<ResultType>& responder, mcp::InputRequired questions,
             const std::function<ResultType(const mcp::InputResponses&)>& answered) {
  const mcp::InputResponses& inputs = responder.context().inputs;
  for (const auto& question : questions.requests) {
    if (inputs.Find(question.first) == nullptr) return responder.NeedInput(std::move(questions));
  }
  responder.Reply(answered(inputs));
}

}  // namespace glovebox::conformance

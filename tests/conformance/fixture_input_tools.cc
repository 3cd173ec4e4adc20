#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "fixture.h"
#include "mcp/json_writer.h"

namespace glovebox::conformance {
namespace {

namespace json = boost::json;
using mcp::CallToolResult;
using mcp::InputRequired;
using mcp::InputResponses;
using mcp::ToolResponder;

constexpr int kTokensMax = 100;

// What the user did with a form, in words.
CallToolResult Elicited(const InputResponses& inputs, std::string_view key) {
  const json::object& answer = *inputs.Find(key);
  const json::value* action = answer.if_contains("action");
  const json::value* content = answer.if_contains("content");
  return TextResult(
      "Elicitation completed: action=" +
      (action != nullptr && action->is_string() ? std::string(action->get_string())
                                                : std::string("none")) +
      ", content=" + (content != nullptr ? mcp::WriteJson(*content) : std::string("{}")));
}

CallToolResult Greeting(const InputResponses& inputs) {
  const std::string name = FormText(inputs, "user_name", "name");
  return TextResult(name.empty() ? "Hello, whoever you are!" : "Hello, " + name + "!");
}

CallToolResult Roots(const InputResponses& inputs) {
  std::string text = "Roots:";
  const json::value* roots = inputs.Find("client_roots")->if_contains("roots");
  if (roots != nullptr && roots->is_array()) text += " " + mcp::WriteJson(*roots);
  return TextResult(std::move(text));
}

mcp::FormElicitation AskName(std::string message) {
  return Form(std::move(message), {{"name", Property("string", "Your name")}});
}
mcp::FormElicitation AskConfirmation() {
  return Form("Please confirm", {{"ok", Property("boolean", "Whether to go on")}});
}

// One field per kind of primitive, each with a default.
mcp::FormElicitation FormWithDefaults() {
  return {"Please review your profile", json::parse(R"({
    "type": "object",
    "properties": {
      "name": {"type": "string", "description": "User name", "default": "John Doe"},
      "age": {"type": "integer", "description": "User age", "default": 30},
      "score": {"type": "number", "description": "User score", "default": 95.5},
      "status": {"type": "string", "description": "User status",
                 "enum": ["active", "inactive", "pending"], "default": "active"},
      "verified": {"type": "boolean", "description": "Verification status", "default": true}
    },
    "required": []
  })")
                                            .get_object()};
}

// One field per way to write a choice.
mcp::FormElicitation FormWithChoices() {
  return {"Please choose", json::parse(R"({
    "type": "object",
    "properties": {
      "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
      "titledSingle": {"type": "string", "oneOf": [
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"}]},
      "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                     "enumNames": ["Option One", "Option Two", "Option Three"]},
      "untitledMulti": {"type": "array",
                        "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
      "titledMulti": {"type": "array", "items": {"anyOf": [
        {"const": "value1", "title": "First Choice"},
        {"const": "value2", "title": "Second Choice"},
        {"const": "value3", "title": "Third Choice"}]}}
    },
    "required": []
  })")
                               .get_object()};
}

// A tool that asks `questions` and answers with what `answered` makes of the answers.
void AddAsking(mcp::Server& server, std::string name, std::string description,
               InputRequired questions,
               std::function<CallToolResult(const InputResponses&)> answered) {
  server.tools().Add(Define(std::move(name), std::move(description)),
                     [questions = std::move(questions), answered = std::move(answered)](
                         const json::object&, const ToolResponder& responder) {
                       AskThen(responder, questions, answered);
                     });
}

void AddToolsWithAnArgument(mcp::Server& server) {
  server.tools().Add(Define("test_sampling", "Has the client's model complete a prompt.",
                            {{"prompt", Property("string", "The prompt")}}, {"prompt"}),
                     [](const json::object& arguments, const ToolResponder& responder) {
                       const auto prompt = StringArgument(arguments, "prompt");
                       if (!prompt) return responder.Reply(ErrorResult(prompt.error().message()));
                       AskThen<CallToolResult>(
                           responder, {{{"answer", Prompt(*prompt, kTokensMax)}}, ""},
                           [](const InputResponses& inputs) {
                             return TextResult("LLM response: " + SampledText(inputs, "answer"));
                           });
                     });
  server.tools().Add(
      Define("test_elicitation", "Has the user fill in a form.",
             {{"message", Property("string", "What to ask the user for")}}, {"message"}),
      [](const json::object& arguments, const ToolResponder& responder) {
        const auto message = StringArgument(arguments, "message");
        if (!message) return responder.Reply(ErrorResult(message.error().message()));
        auto form = Form(*message, {{"username", Property("string", "User name")},
                                    {"email", Property("string", "User email address")}});
        AskThen<CallToolResult>(
            responder, {{{"form", std::move(form)}}, ""},
            [](const InputResponses& inputs) { return Elicited(inputs, "form"); });
      });
}

void AddSingleRoundTools(mcp::Server& server) {
  const auto elicited = [](const InputResponses& inputs) { return Elicited(inputs, "form"); };
  AddAsking(server, "test_elicitation_sep1034_defaults", "Elicits a form with defaults.",
            {{{"form", FormWithDefaults()}}, ""}, elicited);
  AddAsking(server, "test_elicitation_sep1330_enums", "Elicits a form with choices.",
            {{{"form", FormWithChoices()}}, ""}, elicited);
  AddAsking(server, "test_missing_capability", "Needs a client that can sample.",
            {{{"answer", Prompt("Say something.", kTokensMax)}}, ""},
            [](const InputResponses& inputs) { return TextResult(SampledText(inputs, "answer")); });
  AddAsking(server, "test_input_required_result_elicitation", "Asks the user's name.",
            {{{"user_name", AskName("What is your name?")}}, ""}, Greeting);
  AddAsking(server, "test_input_required_result_sampling", "Asks the client's model.",
            {{{"capital_question", Prompt("What is the capital of France?", kTokensMax)}}, ""},
            [](const InputResponses& inputs) {
              return TextResult("The model says: " + SampledText(inputs, "capital_question"));
            });
  AddAsking(server, "test_input_required_result_list_roots", "Asks for the client's roots.",
            {{{"client_roots", mcp::RootsRequest{}}}, ""}, Roots);
  AddAsking(server, "test_input_required_result_multiple_inputs", "Asks three questions at once.",
            {{{"user_name", AskName("What is your name?")},
              {"greeting", Prompt("Generate a greeting", 50)},
              {"client_roots", mcp::RootsRequest{}}},
             "asked"},
            [](const InputResponses& inputs) {
              CallToolResult result = Greeting(inputs);
              result.content.push_back(mcp::Text(SampledText(inputs, "greeting")));
              result.content.push_back(Roots(inputs).content.front());
              return result;
            });
}

// Tools that look at what they remembered. A state that is not theirs never reaches them.
void AddToolsWithState(mcp::Server& server) {
  for (const char* name :
       {"test_input_required_result_request_state", "test_input_required_result_tampered_state"}) {
    server.tools().Add(Define(name, "Remembers between its question and its answer."),
                       [](const json::object&, const ToolResponder& responder) {
                         const bool remembers = responder.context().state == "asked";
                         if (!remembers || responder.context().inputs.Find("confirm") == nullptr) {
                           return responder.NeedInput({{{"confirm", AskConfirmation()}}, "asked"});
                         }
                         responder.Reply(TextResult("state-ok"));
                       });
  }
  server.tools().Add(
      Define("test_input_required_result_multi_round", "Asks one question after the other."),
      [](const json::object&, const ToolResponder& responder) {
        // The state of the second round is the answer of the first.
        constexpr std::string_view kNamed = "name=";
        const InputResponses& inputs = responder.context().inputs;
        const std::string_view state = responder.context().state;
        if (state.starts_with(kNamed) && inputs.Accepted("step2") != nullptr) {
          return responder.Reply(TextResult(std::string(state.substr(kNamed.size())) + " likes " +
                                            FormText(inputs, "step2", "color") + "."));
        }
        const std::string name = FormText(inputs, "step1", "name");
        if (name.empty()) {
          return responder.NeedInput({{{"step1", AskName("Step 1: What is your name?")}}, "asked"});
        }
        responder.NeedInput({{{"step2", Form("Step 2: What is your favorite color?",
                                             {{"color", Property("string", "A color")}})}},
                             std::string(kNamed) + name});
      });
  server.tools().Add(
      Define("test_input_required_result_capabilities", "Asks only what the client can answer."),
      [](const json::object&, const ToolResponder& responder) {
        InputRequired questions;
        const auto offer = [&](const std::string& key, mcp::InputRequest request) {
          if (IsDeclared(request, responder.context().capabilities)) {
            questions.requests.emplace(key, std::move(request));
          }
        };
        offer("user_name", AskName("What is your name?"));
        offer("greeting", Prompt("Generate a greeting", kTokensMax));
        offer("client_roots", mcp::RootsRequest{});
        AskThen<CallToolResult>(responder, std::move(questions), [](const InputResponses& inputs) {
          return TextResult("Answered: " + mcp::WriteJson(inputs.all()));
        });
      });
}

}  // namespace

void AddInputTools(mcp::Server& server) {
  AddToolsWithAnArgument(server);
  AddSingleRoundTools(server);
  AddToolsWithState(server);
}

}  // namespace glovebox::conformance

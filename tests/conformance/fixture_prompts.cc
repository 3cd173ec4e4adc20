#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "fixture.h"

namespace glovebox::conformance {
namespace {

using mcp::GetPromptResult;
using Arguments = mcp::PromptRegistry::Arguments;
using PromptResponder = mcp::Responder<GetPromptResult>;

mcp::PromptMessage User(mcp::ContentBlock content) {
  return {mcp::Role::kUser, std::move(content)};
}

// The completions of an argument: the words that begin with what has been typed.
mcp::CompleteResult Complete(const mcp::CompleteParams& params) {
  constexpr std::array<std::string_view, 4> kWords = {"paris", "park", "party", "berlin"};
  mcp::CompleteResult result;
  for (const std::string_view word : kWords) {
    if (word.starts_with(params.argument_value)) result.values.emplace_back(word);
  }
  result.total = result.values.size();
  return result;
}

}  // namespace

void AddPrompts(mcp::Server& server) {
  mcp::PromptRegistry& prompts = server.prompts();
  prompts.Add({.name = "test_simple_prompt", .description = "A prompt without arguments."},
              [](const Arguments&, const PromptResponder& responder) {
                responder.Reply({"", {User(mcp::Text("This is a simple prompt for testing."))}});
              });
  prompts.Add(
      {.name = "test_prompt_with_arguments",
       .description = "A prompt that repeats its arguments.",
       .arguments = {{"arg1", "The first argument", true}, {"arg2", "The second argument", true}}},
      [](const Arguments& arguments, const PromptResponder& responder) {
        responder.Reply({"",
                         {User(mcp::Text("Prompt with arguments: arg1='" + arguments.at("arg1") +
                                         "', arg2='" + arguments.at("arg2") + "'"))}});
      });
  prompts.AddCompleter(mcp::CompleteParams::Kind::kPrompt, "test_prompt_with_arguments", Complete);
  prompts.Add(
      {.name = "test_prompt_with_embedded_resource",
       .description = "A prompt that holds a resource.",
       .arguments = {{"resourceUri", "The URI of the resource", true}}},
      [](const Arguments& arguments, const PromptResponder& responder) {
        responder.Reply({"",
                         {User({mcp::EmbeddedResource{{arguments.at("resourceUri"),
                                                       "text/plain",
                                                       "Embedded resource content for testing.",
                                                       {}}},
                                {}}),
                          User(mcp::Text("Please process the embedded resource above."))}});
      });
  prompts.Add(
      {.name = "test_prompt_with_image", .description = "A prompt that holds an image."},
      [](const Arguments&, const PromptResponder& responder) {
        responder.Reply({"",
                         {User({mcp::ImageContent{std::string(kPngBase64), "image/png"}, {}}),
                          User(mcp::Text("Please analyze the image above."))}});
      });
  prompts.Add({.name = "test_input_required_result_prompt",
               .description = "A prompt that asks the user first."},
              [](const Arguments&, const PromptResponder& responder) {
                auto form = Form("What context should the prompt use?",
                                 {{"context", Property("string", "The context")}});
                AskThen<GetPromptResult>(
                    responder, {{{"user_context", std::move(form)}}, ""},
                    [](const mcp::InputResponses& inputs) -> GetPromptResult {
                      return {"",
                              {User(mcp::Text("Use this context: " +
                                              FormText(inputs, "user_context", "context")))}};
                    });
              });
}

}  // namespace glovebox::conformance

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/parse.hpp>

#include "fixture.h"
#include "mcp/json_writer.h"

namespace glovebox::conformance {
namespace {

namespace json = boost::json;
using mcp::CallToolResult;
using mcp::ToolResponder;

constexpr std::chrono::milliseconds kStep{50};
constexpr std::chrono::milliseconds kRetry{500};
constexpr std::chrono::milliseconds kReconnectionWork{100};

// A header and no samples.
constexpr std::string_view kWavBase64 =
    "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

// What of JSON Schema 2020-12 must survive tools/list, to the letter.
constexpr std::string_view kSchema2020 = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
    }
  },
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
})";

mcp::ContentBlock Image() { return {mcp::ImageContent{std::string(kPngBase64), "image/png"}, {}}; }

mcp::ContentBlock Embedded(std::string uri, std::string mime_type, std::string text) {
  return {mcp::EmbeddedResource{{std::move(uri), std::move(mime_type), std::move(text), {}}}, {}};
}

// A tool that always says the same.
void AddConstant(mcp::Server& server, std::string name, std::string description,
                 CallToolResult result) {
  server.tools().Add(
      Define(std::move(name), std::move(description)),
      [result = std::move(result)](const json::object&, const ToolResponder& responder) {
        responder.Reply(result);
      });
}

void AddConstants(mcp::Server& server) {
  AddConstant(server, "test_simple_text", "Returns one block of text.",
              TextResult("This is a simple text response for testing."));
  AddConstant(server, "test_image_content", "Returns one image.", {{Image()}, {}, false});
  AddConstant(server, "test_audio_content", "Returns one piece of audio.",
              {{{mcp::AudioContent{std::string(kWavBase64), "audio/wav"}, {}}}, {}, false});
  AddConstant(server, "test_embedded_resource", "Returns one embedded resource.",
              {{Embedded("test://embedded-resource", "text/plain",
                         "This is an embedded resource content.")},
               {},
               false});
  AddConstant(server, "test_multiple_content_types", "Returns text, an image and a resource.",
              {{mcp::Text("Multiple content types test:"), Image(),
                Embedded("test://mixed-content-resource", "application/json",
                         R"({"test":"data","value":123})")},
               {},
               false});
  AddConstant(server, "test_error_handling", "Always fails.",
              ErrorResult("This tool intentionally returns an error for testing"));
  AddConstant(server, "test_streaming_elicitation", "Answers and asks nothing.",
              TextResult("Nothing was asked."));
  AddConstant(server, "noop", "Does nothing, for benchmarks.", TextResult("ok"));
}

// Runs `step` for 0, 1, ... `count` - 1, a little apart, then `done`.
void InSteps(const boost::asio::any_io_executor& executor, const ToolResponder& responder, int at,
             int count, const std::function<void(int)>& step, const std::function<void()>& done) {
  if (at == count) return done();
  step(at);
  After(executor, kStep, responder,
        [=] { InSteps(executor, responder, at + 1, count, step, done); });
}

void AddNotifyingTools(mcp::Server& server) {
  server.tools().Add(
      Define("test_tool_with_progress", "Reports progress three times, then answers."),
      [&server](const json::object&, const ToolResponder& responder) {
        const auto done = [responder] { responder.Reply(TextResult("Progress test completed.")); };
        InSteps(
            server.executor(), responder, 0, 3,
            [responder](int at) {
              responder.Report({50.0 * at, 100, "Step " + std::to_string(at + 1) + " of 3"});
            },
            done);
      });
  server.tools().Add(
      Define("test_tool_with_logging", "Logs three messages, then answers."),
      [&server](const json::object&, const ToolResponder& responder) {
        const auto done = [responder] { responder.Reply(TextResult("Logging test completed.")); };
        InSteps(
            server.executor(), responder, 0, 3,
            [responder](int at) {
              responder.Log({mcp::LogLevel::kInfo, "fixture",
                             json::string("Message " + std::to_string(at + 1) + " of 3")});
            },
            done);
      });
  server.tools().Add(Define("test_logging_tool", "Logs one message for whoever asked for logs."),
                     [](const json::object&, const ToolResponder& responder) {
                       responder.Log({mcp::LogLevel::kInfo, "fixture", "The tool was called"});
                       responder.Reply(TextResult("One message was logged."));
                     });
  server.tools().Add(
      Define("test_reconnection", "Lets the connection go and has the answer ready soon after."),
      [&server](const json::object&, const ToolResponder& responder) {
        responder.call()->ReleaseStream(kRetry);
        After(server.executor(), kReconnectionWork, responder, [responder] {
          responder.Reply(TextResult("The answer waited for you to come back."));
        });
      });
}

void AddTrigger(mcp::Server& server, std::string name, std::string description,
                mcp::Change::Kind kind) {
  server.tools().Add(Define(std::move(name), std::move(description)),
                     [&server, kind](const json::object&, const ToolResponder& responder) {
                       server.changes().Publish({kind, ""});
                       responder.Reply(TextResult("Published."));
                     });
}

void AddArgumentTools(mcp::Server& server) {
  mcp::ToolDefinition schema_tool =
      Define("json_schema_2020_12_tool", "Returns its arguments; for its schema.");
  schema_tool.input_schema = json::parse(kSchema2020).get_object();
  server.tools().Add(std::move(schema_tool),
                     [](const json::object& arguments, const ToolResponder& responder) {
                       responder.Reply(TextResult(mcp::WriteJson(arguments)));
                     });

  json::object region = Property("string", "Travels in a header as well.");
  region.emplace("x-mcp-header", "Region");
  server.tools().Add(Define("test_x_mcp_header", "Returns its region.",
                            {{"region", std::move(region)},
                             {"level", Property("integer", "Travels in the body only.")}}),
                     [](const json::object& arguments, const ToolResponder& responder) {
                       const auto given = StringArgument(arguments, "region");
                       responder.Reply(TextResult("Region: " + (given ? *given : "none")));
                     });
}

}  // namespace

void AddContentTools(mcp::Server& server) {
  AddConstants(server);
  AddNotifyingTools(server);
  AddArgumentTools(server);
  AddTrigger(server, "test_trigger_tool_change", "Says that the list of tools has changed.",
             mcp::Change::Kind::kToolsList);
  AddTrigger(server, "test_trigger_prompt_change", "Says that the list of prompts has changed.",
             mcp::Change::Kind::kPromptsList);
}

}  // namespace glovebox::conformance

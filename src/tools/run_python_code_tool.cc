#include "tools/run_python_code_tool.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>

#include "base/text.h"
#include "mcp/json_writer.h"
#include "tools/arguments.h"
#include "tools/execute_code_arguments.h"
#include "tools/outcome_json.h"
#include "tools/schema.h"
#include "tools/tool_result.h"
#include "tools/value_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

mcp::ToolDefinition Definition() {
  mcp::ToolDefinition tool;
  tool.name = "run_python_code";
  tool.title = "Run Python code";
  tool.description =
      "Tool to execute Python code and return stdout, stderr, and return value.\n\n"
      "The code may be async, and the value of its last expression is returned. Every call starts "
      "from nothing, without a network. execute_code does the same and tells more.";
  json::object code = Property("string", "Python code to run");
  json::object globals = {
      {"type", "object"},
      {"additionalProperties", json::object()},
      {"default", json::object()},
      {"description", "Map of global variables in context when the code is executed"}};
  tool.input_schema =
      InputSchema({{"python_code", std::move(code)}, {"global_variables", std::move(globals)}},
                  {"python_code"});
  tool.input_schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  tool.annotations = RunsInABox();
  tool.icons = ToolIcons();
  return tool;
}

// JSON over several lines, two blanks per level.
void WriteIndented(const json::value& value, const std::string& indent, std::string& text) {
  const bool array = value.is_array() && !value.get_array().empty();
  const bool object = value.is_object() && !value.get_object().empty();
  if (!array && !object) {
    text += mcp::WriteJson(value);
    return;
  }
  const std::string inner = indent + "  ";
  text += array ? "[" : "{";
  bool first = true;
  const auto begin_item = [&] {
    text += (first ? "\n" : ",\n") + inner;
    first = false;
  };
  if (array) {
    for (const json::value& item : value.get_array()) {
      begin_item();
      WriteIndented(item, inner, text);
    }
  } else {
    for (const auto& member : value.get_object()) {
      begin_item();
      text += mcp::WriteJson(json::string(member.key())) + ": ";
      WriteIndented(member.value(), inner, text);
    }
  }
  text += "\n" + indent + (array ? "]" : "}");
}

bool StartsWithoutCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char expected, char c) {
           return std::tolower(static_cast<unsigned char>(c)) == expected;
         });
}

// The text of a user between <name> and </name>: it must not close, or open, that itself.
std::string Escaped(std::string_view text, const std::string& name) {
  const std::string opening = "<" + name + ">";
  const std::string closing = "</" + name + ">";
  std::string escaped;
  while (!text.empty()) {
    const std::size_t length = StartsWithoutCase(text, opening)   ? opening.size()
                               : StartsWithoutCase(text, closing) ? closing.size()
                                                                  : 0;
    if (length == 0) {
      escaped += text.front();
      text.remove_prefix(1);
      continue;
    }
    escaped.append("&lt;").append(text.substr(1, length - 2)).append("&gt;");
    text.remove_prefix(length);
  }
  return escaped;
}

std::string Block(const std::string& name, std::string_view text) {
  return "\n<" + name + ">\n" + Escaped(text, name) + "\n</" + name + ">";
}

// What the last expression gave; a value that only has the form of text is shown by its repr.
json::value ReturnValue(const Outcome& outcome) {
  if (outcome.value_repr.empty()) return nullptr;
  json::value value = ValueToJson(outcome.value);
  const char first = outcome.value_repr.front();
  if (value.is_string() && first != '\'' && first != '"') {
    return json::string(outcome.value_repr);
  }
  return value;
}

// The traceback of what Python raised, else why the run ended.
std::string ErrorOf(const Outcome& outcome, const ExecutionRequest& request) {
  const json::object document = OutcomeToJson(outcome, request);
  if (outcome.error && !outcome.error->traceback.empty()) return outcome.error->traceback;
  const json::value* error = document.if_contains("error");
  return error != nullptr && error->is_string() ? std::string(error->get_string()) : "";
}

std::string Printed(const Outcome& outcome) {
  std::string text = outcome.stdout_stream.text + outcome.stderr_stream.text;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string XmlAnswer(const Outcome& outcome, const ExecutionRequest& request) {
  const bool succeeded = outcome.status == ExecutionStatus::kCompleted;
  std::string text = std::string("<status>") + (succeeded ? "success" : "run-error") + "</status>";
  if (const std::string printed = Printed(outcome); !printed.empty()) {
    text += Block("output", printed);
  }
  if (!succeeded) return text + Block("error", ErrorOf(outcome, request));
  const json::value value = ReturnValue(outcome);
  if (value.is_null()) return text;
  std::string shown;
  if (value.is_string()) {
    shown = std::string(value.get_string());
    if (shown.empty()) return text;
  } else {
    WriteIndented(value, "", shown);
  }
  return text + Block("return_value", shown);
}

std::string JsonAnswer(const Outcome& outcome, const ExecutionRequest& request) {
  const bool succeeded = outcome.status == ExecutionStatus::kCompleted;
  json::object answer;
  answer["status"] = succeeded ? "success" : "run-error";
  json::array lines;
  const std::string printed = Printed(outcome);
  if (!printed.empty()) {
    for (const std::string_view line : Split(printed, '\n')) lines.emplace_back(line);
  }
  answer["output"] = std::move(lines);
  if (succeeded) {
    answer["return_value"] = ReturnValue(outcome);
  } else {
    answer["error"] = ErrorOf(outcome, request);
  }
  return mcp::WriteJson(answer);
}

mcp::CallToolResult TextResult(const std::string& text) {
  mcp::CallToolResult result;
  result.content.push_back(mcp::Text(text));
  return result;
}

Result<ExecutionRequest> ReadRequest(const json::object& arguments, const RunLimits& limits,
                                     const ProfileTable& profiles) {
  TRY(CheckArgumentNames(arguments, "run_python_code", {"python_code", "global_variables"}));
  ExecutionRequest request;
  auto code = TRY(StringArgument(arguments, "python_code"));
  if (!code) {
    return Error(Errc::kInvalidArgument,
                 "Missing argument 'python_code': must be a string of Python code");
  }
  if (const auto refusal = TooLarge(*code, limits.code_chars_max)) {
    return Error(Errc::kInvalidArgument, "Invalid argument 'python_code': " + *refusal);
  }
  const std::shared_ptr<const ChosenProfile> chosen =
      TRY(profiles.Choose(profiles.offer().is_enabled("full") ? "full" : "", {}));
  request.code = std::move(*code);
  request.filename = request.argv0 = "main.py";
  request.globals = TRY(GlobalsArgument(arguments, "global_variables"));
  request.output = OutputMode::kMerged;
  request.kind = chosen->choice.box_kind();
  request.language = chosen->language;
  request.limits.wall_ms_max = limits.timeout_s_default * 1000;
  request.limits.memory_bytes_max = chosen->choice.memory_bytes;
  request.limits.output_chars_max = limits.output_chars_max;
  return request;
}

}  // namespace

std::string RunPythonCodeAnswer(const Outcome& outcome, const ExecutionRequest& request,
                                ReturnMode mode) {
  return mode == ReturnMode::kXml ? XmlAnswer(outcome, request) : JsonAnswer(outcome, request);
}

RunPythonCodeTool::RunPythonCodeTool(Executor& executor, RunLimits limits,
                                     policy::ProfileOffer offer, ReturnMode mode)
    : executor_(executor),
      limits_(limits),
      profiles_(std::move(offer)),
      mode_(mode),
      definition_(Definition()) {}

void RunPythonCodeTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  auto request = ReadRequest(arguments, limits_, profiles_);
  if (!request) return responder.Reply(ToToolResult(request.error()));
  request->caller = responder.context().principal;
  const auto execution = executor_.Start(
      *request, nullptr, [responder, mode = mode_, asked = *request](const Outcome& outcome) {
        responder.Reply(TextResult(RunPythonCodeAnswer(outcome, asked, mode)));
      });
  responder.OnCancel([execution] { execution->Cancel(); });
}

}  // namespace glovebox

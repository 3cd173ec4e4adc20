#include "tools/validate_code_tool.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include "base/utf8.h"
#include "embedded/tool_programs.h"
#include "tools/arguments.h"
#include "tools/outcome_json.h"
#include "tools/schema.h"
#include "tools/tool_result.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::uint32_t kWallMsMax = 10'000;
constexpr std::string_view kPassed = "Code passed validation";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return Contains(text, part); });
}

// Advice by plain search: a comment is enough. Null when there is none.
json::value Warnings(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSigns = {{
      {"__import__", "Dynamic imports detected"},
      {"eval(", "Use of eval detected"},
      {"exec(", "Use of exec detected"},
      {"compile(", "Use of compile detected"},
      {"open(", "File operations detected"},
  }};
  json::array warnings;
  for (const auto& [sign, warning] : kSigns) {
    if (Contains(code, sign)) warnings.emplace_back(warning);
  }
  return warnings.empty() ? json::value() : json::value(std::move(warnings));
}

json::object Analysis(std::string_view code) {
  const auto lines = std::count(code.begin(), code.end(), '\n') + 1;
  std::string_view complexity = "low";
  if (ContainsAny(code, {"for", "while", "if", "def", "class"})) complexity = "medium";
  if (ContainsAny(code, {"nested", "recursive", "lambda"})) complexity = "high";
  return {{"line_count", lines},
          {"character_count", CountCodePoints(code)},
          {"estimated_complexity", complexity}};
}

json::array Recommendations(std::string_view code) {
  constexpr int kManyLines = 50;
  std::string lower(code);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  json::array list;
  if (std::count(code.begin(), code.end(), '\n') + 1 > kManyLines) {
    list.emplace_back("Consider breaking large code blocks into smaller functions");
  }
  if (Contains(code, "print(")) list.emplace_back("Output will be captured automatically");
  if (ContainsAny(lower, {"import", "open", "file"})) {
    list.emplace_back("Some operations may be restricted in sandbox environment");
  }
  return list;
}

json::object Document(std::string_view code, json::object verdict, json::object validation) {
  json::object document = std::move(verdict);
  document["validation"] = std::move(validation);
  document["analysis"] = Analysis(code);
  document["recommendations"] = Recommendations(code);
  return document;
}

json::object Valid(std::string_view code) {
  return Document(code, {{"valid", true}, {"message", kPassed}, {"warnings", Warnings(code)}},
                  {{"valid", true}, {"message", kPassed}, {"compiled", true}});
}

json::object Invalid(std::string_view code, json::object verdict) {
  json::array errors;
  errors.push_back(verdict.at("error"));
  verdict["valid"] = false;
  return Document(
      code, std::move(verdict),
      {{"valid", false}, {"message", "Code could not be compiled"}, {"errors", std::move(errors)}});
}

// Of the box's answer only what has the type it should have; null otherwise.
json::value Member(const json::object& told, std::string_view key, json::kind kind) {
  const json::value* value = told.if_contains(key);
  return value != nullptr && value->kind() == kind ? *value : json::value();
}

std::string TextMember(const json::object& told, std::string_view key) {
  const json::value value = Member(told, key, json::kind::string);
  return value.is_string() ? std::string(value.get_string()) : std::string();
}

// What the program in the box answered, or what became of it instead.
json::object Verdict(std::string_view code, const Outcome& outcome) {
  const json::value answer = ValueToJson(outcome.value);
  const json::object told = answer.is_object() ? answer.get_object() : json::object();
  const std::string kind = TextMember(told, "kind");
  if (outcome.status != ExecutionStatus::kCompleted || kind.empty()) {
    const std::string reason = outcome.message.empty() ? "the compiler failed" : outcome.message;
    return Invalid(code, {{"error", "Compilation error: " + reason}});
  }
  if (kind == "valid") return Valid(code);
  const std::string error = TextMember(told, "error");
  if (kind == "compile") return Invalid(code, {{"error", "Compilation error: " + error}});
  return Invalid(code, {{"error", "Syntax error: " + error},
                        {"line", Member(told, "line", json::kind::int64)},
                        {"offset", Member(told, "offset", json::kind::int64)},
                        {"text", Member(told, "text", json::kind::string)}});
}

mcp::ToolDefinition Definition(std::size_t code_chars_max) {
  mcp::ToolDefinition tool;
  tool.name = "validate_code";
  tool.title = "Check Python code";
  tool.description =
      "Checks whether Python code compiles, without running it: nothing it says is executed. Use "
      "it "
      "before a long or costly execute_code call, or to find the line of a syntax error; to know "
      "whether code works, run it. `valid` is the answer; when false, `error`, `line`, `offset` "
      "and "
      "`text` say where and why. `warnings`, `analysis` and `recommendations` are advice from a "
      "plain search of the text. Code may have up to " +
      std::to_string(code_chars_max) +
      " characters.\nExample: {\"code\": \"x = = 1\"} gives valid false, line 1.";
  json::object input;
  input["code"] = Property("string", "Python code to check");
  tool.input_schema = InputSchema(std::move(input), {"code"});

  json::object output;
  output["valid"] = Property("boolean", "Whether the code compiles.");
  output["message"] = Property("string", "The verdict in words, when valid.");
  output["warnings"] = AnyProperty("List of warnings, or null; when valid.");
  output["error"] = Property("string", "Why it does not compile.");
  output["line"] = AnyProperty("Line of the syntax error, or null.");
  output["offset"] = AnyProperty("Column of the syntax error, or null.");
  output["text"] = AnyProperty("The line in error, or null.");
  output["validation"] = Property("object", "The verdict again: valid, message, compiled, errors.");
  output["analysis"] =
      Property("object", "line_count, character_count, estimated_complexity (low, medium, high).");
  output["recommendations"] = ListProperty("string", "Advice.");
  tool.output_schema =
      OutputSchema(std::move(output), {"valid", "validation", "analysis", "recommendations"});
  tool.annotations = {.read_only_hint = true,
                      .destructive_hint = false,
                      .idempotent_hint = true,
                      .open_world_hint = false};
  tool.icons = ToolIcons();
  return tool;
}

}  // namespace

ValidateCodeTool::ValidateCodeTool(Executor& executor, std::size_t code_chars_max)
    : executor_(executor),
      code_chars_max_(code_chars_max),
      definition_(Definition(code_chars_max)) {}

void ValidateCodeTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  const Status names = CheckArgumentNames(arguments, "validate_code", {"code"});
  if (!names) return responder.Reply(ToToolResult(names.error()));
  auto code = CodeArgument(arguments);
  if (!code) return responder.Reply(ToToolResult(code.error()));
  if (const auto refusal = TooLarge(*code, code_chars_max_)) {
    return responder.Reply(ToToolResult(Invalid(*code, {{"error", *refusal}})));
  }
  ExecutionRequest request;
  request.code = embedded::kValidateCodeProgram;
  request.filename = "<validate_code>";  // so that errors of it are not taken for the user's
  request.globals = {{"source", wire::Value{*code}}};
  request.limits.wall_ms_max = kWallMsMax;
  const auto execution = executor_.Start(
      std::move(request), nullptr, [responder, code = std::move(*code)](const Outcome& outcome) {
        if (outcome.status == ExecutionStatus::kSetupFailed) {
          return responder.Fail(Error(Errc::kInternal, outcome.message));
        }
        responder.Reply(ToToolResult(Verdict(code, outcome)));
      });
  responder.OnCancel([execution] { execution->Cancel(); });
}

}  // namespace glovebox

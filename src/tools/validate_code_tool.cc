#include "tools/validate_code_tool.h"

#include <string>
#include <utility>

#include "tools/arguments.h"
#include "tools/schema.h"
#include "tools/tool_result.h"
#include "tools/validation_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::uint32_t kWallMsMax = 10'000;
mcp::ToolDefinition Definition(std::size_t code_chars_max) {
  mcp::ToolDefinition tool;
  tool.name = "validate_code";
  tool.title = "Check Python code";
  tool.description =
      "Checks Python code without running it: whether it compiles, and whether it contains what "
      "the "
      "server's profile does not allow (imports and operations, each with its line and what to do "
      "instead). Use it before a long or costly execute_code call, or to find the line of a syntax "
      "error; to know whether code works, run it. `valid` is the answer; when false, `errors` and "
      "`findings`, or `error`, `line`, `offset`, `text` and `caret`, say where and why. `warnings` "
      "and `recommendations` are advice from a plain search of the text. Code may have up to " +
      std::to_string(code_chars_max) +
      " characters.\nExample: {\"code\": \"x = = 1\"} gives valid false, line 1.";
  json::object input;
  input["code"] = Property("string", "Python code to check");
  tool.input_schema = InputSchema(std::move(input), {"code"});

  json::object output;
  output["valid"] = Property("boolean", "Whether the code compiles and is allowed.");
  output["message"] = Property("string", "The verdict in words.");
  output["warnings"] = AnyProperty("List of warnings, or null.");
  output["error"] = Property("string", "Why it does not compile.");
  output["line"] = AnyProperty("Line of the syntax error, or null.");
  output["offset"] = AnyProperty("Column of the syntax error, or null.");
  output["text"] = AnyProperty("The line in error, or null.");
  output["caret"] = Property("string", "The line in error and a mark below it.");
  output["errors"] = ListProperty("string", "What is not allowed: Line N: what.");
  output["findings"] =
      ListProperty("object", "The same with line, column, rule, what, why and instead.");
  output["validation"] = Property("object", "The verdict again: valid, message, compiled, errors.");
  output["analysis"] = Property(
      "object",
      "line_count, character_count, estimated_complexity (low, medium, high); of code that can be "
      "parsed also cyclomatic_complexity, function_count, class_count, imports, names_defined.");
  output["recommendations"] = ListProperty("string", "Advice.");
  tool.output_schema =
      OutputSchema(std::move(output), {"valid", "validation", "analysis", "recommendations"});
  tool.annotations = OnlyTells();
  tool.icons = ToolIcons();
  return tool;
}

}  // namespace

ValidateCodeTool::ValidateCodeTool(Executor& executor, std::size_t code_chars_max,
                                   wire::LanguagePolicy language)
    : executor_(executor),
      code_chars_max_(code_chars_max),
      language_(std::move(language)),
      definition_(Definition(code_chars_max)) {}

void ValidateCodeTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  const Status names = CheckArgumentNames(arguments, "validate_code", {"code"});
  if (!names) return responder.Reply(ToToolResult(names.error()));
  auto code = CodeArgument(arguments);
  if (!code) return responder.Reply(ToToolResult(code.error()));
  if (const auto refusal = TooLarge(*code, code_chars_max_)) {
    return responder.Reply(ToToolResult(InvalidToJson(*code, *refusal)));
  }
  ExecutionRequest request;
  request.caller = responder.context().principal;
  request.action = wire::RunAction::kValidate;
  request.code = *code;
  request.language = language_;
  request.limits.wall_ms_max = kWallMsMax;
  const auto execution = executor_.Start(
      std::move(request), nullptr, [responder, code = std::move(*code)](const Outcome& outcome) {
        if (outcome.status == ExecutionStatus::kSetupFailed) {
          return responder.Fail(Error(Errc::kInternal, outcome.message));
        }
        responder.Reply(ToToolResult(ValidationToJson(code, outcome)));
      });
  responder.OnCancel([execution] { execution->Cancel(); });
}

}  // namespace glovebox

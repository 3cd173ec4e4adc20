#include "tools/validate_code_tool.h"

#include <string>

#include "mcp/json_writer.h"
#include "tools/tool_fixture.h"

namespace glovebox {
namespace {

namespace json = boost::json;

class ValidateCodeToolTest : public ToolFixture {
 protected:
  // The box's answer to a call about `code`.
  void Validate(std::string_view code, Outcome outcome) {
    json::object arguments;
    arguments["code"] = code;
    Call(tool_, mcp::WriteJson(arguments));
    Finish(std::move(outcome));
  }
  void ValidateGood(std::string_view code) {
    Outcome outcome = Completed();
    outcome.analysis = wire::CodeAnalysis{1, 0, 0, {}, {"x"}};
    Validate(code, std::move(outcome));
  }
  static Outcome Raised(PythonError error) {
    Outcome outcome = FakeExecutor::Ended(ExecutionStatus::kFailed, "it failed");
    outcome.error = std::move(error);
    return outcome;
  }

  static wire::LanguagePolicy Basic() {
    wire::LanguagePolicy policy;
    policy.enabled = true;
    return policy;
  }

  ValidateCodeTool tool_{executor_, 100'000, Basic()};
};

TEST_F(ValidateCodeToolTest, AsksABoxToValidateAndNotToRun) {
  ValidateGood("import os");
  EXPECT_EQ(run().request.action, wire::RunAction::kValidate);
  EXPECT_EQ(run().request.code, "import os");
  EXPECT_TRUE(run().request.language.enabled);
}

TEST_F(ValidateCodeToolTest, ValidCodeInBothShapes) {
  ValidateGood("x = 1 + 1");
  EXPECT_EQ(structured(),
            json::parse(R"({"valid": true, "message": "Code passed validation", "warnings": null,
      "validation": {"valid": true, "message": "Code passed validation", "compiled": true},
      "analysis": {"line_count": 1, "character_count": 9, "estimated_complexity": "low",
                   "cyclomatic_complexity": 1, "function_count": 0, "class_count": 0,
                   "imports": [], "names_defined": ["x"]},
      "recommendations": []})"));
  EXPECT_EQ(call_->replies[0].at("isError"), false);
  ExpectDescribed(tool_);
}

TEST_F(ValidateCodeToolTest, SyntaxErrorsInBothShapes) {
  Validate("x = = 1", Raised({"SyntaxError", "invalid syntax", "", 1, 5, "x = = 1\n"}));
  const json::object& document = structured();
  EXPECT_EQ(document.at("valid"), false);
  EXPECT_EQ(document.at("error"), "Syntax error: invalid syntax (<sandbox>, line 1)");
  EXPECT_EQ(document.at("line"), 1);
  EXPECT_EQ(document.at("offset"), 5);
  EXPECT_EQ(document.at("text"), "x = = 1\n");
  EXPECT_EQ(document.at("caret"), "x = = 1\n    ^");
  EXPECT_FALSE(document.contains("message"));
  EXPECT_EQ(document.at("validation"),
            json::parse(R"JSON({"valid": false, "message": "Code could not be compiled",
                            "errors": ["Syntax error: invalid syntax (<sandbox>, line 1)"]})JSON"));
  ExpectDescribed(tool_);
}

TEST_F(ValidateCodeToolTest, WhatHasNoPlaceHasNullsForOne) {
  Validate("x",
           Raised({"ValueError", "source code string cannot contain null bytes", "", 0, 0, ""}));
  EXPECT_EQ(structured().at("error"), "Syntax error: source code string cannot contain null bytes");
  for (const char* key : {"line", "offset", "text"}) EXPECT_TRUE(structured().at(key).is_null());
}

TEST_F(ValidateCodeToolTest, WarningsByPlainSearch) {
  ValidateGood("# __import__ eval( exec( compile( open(");
  EXPECT_EQ(structured().at("warnings"),
            json::parse(R"JSON(["Dynamic imports detected", "Use of eval detected",
     "Use of exec detected", "Use of compile detected", "File operations detected"])JSON"));
}

TEST_F(ValidateCodeToolTest, AnalysisAndRecommendations) {
  ValidateGood("import math\nfor x in range(3):\n    print(x)");
  EXPECT_EQ(structured().at("analysis").at("line_count"), 3);
  EXPECT_EQ(structured().at("analysis").at("estimated_complexity"), "medium");
  EXPECT_EQ(structured().at("recommendations"),
            json::parse(R"(["Output will be captured automatically",
     "Some operations may be restricted in sandbox environment"])"));
  ValidateGood("lambda: 0" + std::string(50, '\n'));
  EXPECT_EQ(structured().at("analysis").at("estimated_complexity"), "high");
  EXPECT_EQ(structured().at("recommendations").at(0),
            "Consider breaking large code blocks into smaller functions");
}

TEST_F(ValidateCodeToolTest, WhatIsNotAllowedInBothShapes) {
  Outcome outcome = Completed();
  outcome.findings = {{1, 8, "import", "Import 'os' is not allowed", "why", "instead", false}};
  Validate("import os\nos.system('rm -rf /')", std::move(outcome));
  const json::object& document = structured();
  EXPECT_EQ(document.at("valid"), false);
  EXPECT_EQ(document.at("errors"), json::parse(R"(["Line 1: Import 'os' is not allowed"])"));
  EXPECT_EQ(document.at("message"), "Code contains restricted operations");
  EXPECT_EQ(document.at("validation"),
            json::parse(R"({"valid": false, "errors": ["Line 1: Import 'os' is not allowed"],
                            "message": "Code contains restricted operations"})"));
  EXPECT_EQ(document.at("findings").at(0), json::parse(R"({"line": 1, "column": 8, "rule": "import",
                            "what": "Import 'os' is not allowed", "why": "why",
                            "instead": "instead"})"));
  EXPECT_EQ(document.at("recommendations"),
            json::parse(R"(["Some operations may be restricted in sandbox environment"])"));
  ExpectDescribed(tool_);
}

TEST_F(ValidateCodeToolTest, OtherErrorsOfTheCompiler) {
  Outcome outcome = Raised({"RecursionError", "too deep", "", 0, 0, ""});
  outcome.message = "RecursionError: too deep";
  Validate("x", std::move(outcome));
  EXPECT_EQ(structured().at("error"), "Compilation error: RecursionError: too deep");
}

TEST_F(ValidateCodeToolTest, ACompilerThatWasKilledIsAResultOurFailureIsNot) {
  Call(tool_, R"({"code":"x"})");
  Finish(FakeExecutor::Ended(ExecutionStatus::kTimedOut, "it took too long"));
  EXPECT_EQ(structured().at("error"), "Compilation error: it took too long");
  Call(tool_, R"({"code":"x"})");
  Finish(FakeExecutor::Ended(ExecutionStatus::kSetupFailed, "no box"));
  ASSERT_EQ(call_->failures.size(), 1u);
  EXPECT_EQ(call_->failures[0].message, "no box");
}

TEST_F(ValidateCodeToolTest, LongCodeNeedsNoBox) {
  json::object arguments;
  arguments["code"] = std::string(100'001, 'x');
  Call(tool_, mcp::WriteJson(arguments));
  EXPECT_EQ(structured().at("valid"), false);
  EXPECT_EQ(structured().at("error"), "Code too large (max 100KB)");
  EXPECT_TRUE(executor_.runs.empty());
}

TEST_F(ValidateCodeToolTest, CancelKillsTheBox) {
  Call(tool_, R"({"code":"x"})");
  call_->cancel_hook();
  EXPECT_EQ(run().cancels, 1);
}

TEST_F(ValidateCodeToolTest, RefusesOtherArguments) {
  EXPECT_EQ(ErrorOf(tool_, R"({"code":"x","timeout":1})"),
            "Unknown argument 'timeout': validate_code takes code");
  EXPECT_EQ(ErrorOf(tool_, "{}"), "Missing argument 'code': must be a string of Python code");
  EXPECT_EQ(ErrorOf(tool_, R"({"code":1})"), "Invalid argument 'code': must be a string, got 1");
}

TEST_F(ValidateCodeToolTest, IsDescribedForEveryClient) {
  ExpectPortable(tool_.definition());
  EXPECT_TRUE(tool_.definition().annotations.read_only_hint);
}

}  // namespace
}  // namespace glovebox

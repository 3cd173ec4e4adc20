#include "tools/outcome_json.h"

#include <cmath>
#include <limits>
#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/json_writer.h"
#include "tools/value_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

Outcome Completed() {
  Outcome outcome;
  outcome.status = ExecutionStatus::kCompleted;
  outcome.execution_id = "id";
  outcome.exit_code = 0;
  return outcome;
}

Outcome Failed(std::string type, std::string message, std::string traceback, int line) {
  Outcome outcome = Completed();
  outcome.status = ExecutionStatus::kFailed;
  outcome.exit_code = 1;
  outcome.error =
      PythonError{std::move(type), std::move(message), std::move(traceback), line, 0, {}};
  return outcome;
}

std::string Text(const json::object& document, std::string_view key) {
  const json::value* value = document.if_contains(key);
  if (value == nullptr) return "<absent>";
  return value->is_string() ? std::string(value->get_string()) : mcp::WriteJson(*value);
}

TEST(OutcomeJsonTest, DescribesASuccessInTheOldShape) {
  Outcome outcome = Completed();
  outcome.stdout_stream.text = "hi\n";
  outcome.value.data = std::int64_t{4};
  outcome.value_repr = "4";
  outcome.variables = {"x", "y"};
  outcome.wall_seconds = 0.25;
  EXPECT_EQ(mcp::WriteJson(OutcomeToJson(outcome, {})),
            R"({"success":true,"status":"completed","stdout":"hi\n4","stderr":"","result":4,)"
            R"("execution_time":0.25,"execution_id":"id","variables":["x","y"],)"
            R"("security_warnings":null,"exit_code":0,"limits_hit":[],"peak_memory_bytes":0,)"
            R"("cpu_time":0.0,"queue_time":0.0,"security_events":[],"truncated":false,)"
            R"("limits_tier":"cgroup"})");
}

TEST(OutcomeJsonTest, PutsTheValueOnALineOfItsOwn) {
  const auto printed = [](std::string text, std::string repr) {
    Outcome outcome = Completed();
    outcome.stdout_stream.text = std::move(text);
    outcome.value_repr = std::move(repr);
    return Text(OutcomeToJson(outcome, {}), "stdout");
  };
  EXPECT_EQ(printed("", "4"), "4");
  EXPECT_EQ(printed("a\n", "5"), "a\n5");
  EXPECT_EQ(printed("a", "5"), "a\n5");
  EXPECT_EQ(printed("a", ""), "a");
}

TEST(OutcomeJsonTest, KeepsTheValueWithinTheLimitOnOutput) {
  ExecutionRequest request;
  request.limits.output_chars_max = 10;
  Outcome outcome = Completed();
  outcome.stdout_stream.text = "1234567\n";
  outcome.value_repr = "\xc3\xa4\xc3\xb6\xc3\xbc";
  json::object document = OutcomeToJson(outcome, request);
  EXPECT_EQ(Text(document, "stdout"), "1234567\n\xc3\xa4\xc3\xb6\n[Output truncated]");
  EXPECT_EQ(Text(document, "truncated"), "true");
  EXPECT_EQ(Text(document, "stdout_tail"), "1234567\n\xc3\xa4\xc3\xb6\xc3\xbc");
  EXPECT_EQ(Text(document, "stdout_bytes_dropped"), "2");

  outcome.stdout_stream.bytes_dropped = 5;
  outcome.stdout_stream.text = "1234567890\n[Output truncated]";
  document = OutcomeToJson(outcome, request);
  EXPECT_EQ(Text(document, "stdout"), "1234567890\n[Output truncated]");
}

TEST(OutcomeJsonTest, NamesTheExceptionThatEndedTheCode) {
  const auto document =
      OutcomeToJson(Failed("ZeroDivisionError", "division by zero", "Traceback ...", 3), {});
  EXPECT_EQ(Text(document, "success"), "false");
  EXPECT_EQ(Text(document, "error"), "ZeroDivisionError: division by zero");
  EXPECT_EQ(Text(document, "error_type"), "ZeroDivisionError");
  EXPECT_EQ(Text(document, "error_line"), "3");
  EXPECT_EQ(Text(document, "traceback"), "Traceback ...");
  EXPECT_EQ(Text(document, "validation_errors"), "<absent>");
  EXPECT_EQ(Text(OutcomeToJson(Failed("AssertionError", "", "", 1), {}), "error"),
            "AssertionError");
}

TEST(OutcomeJsonTest, TellsCodeThatDoesNotCompileFromASyntaxErrorAtRunTime) {
  for (const char* type : {"SyntaxError", "IndentationError", "TabError"}) {
    const auto document = OutcomeToJson(
        Failed(type, "invalid syntax",
               "  File \"<sandbox>\", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax",
               2),
        {});
    EXPECT_EQ(Text(document, "error"), "Syntax error: invalid syntax (<sandbox>, line 2)");
    EXPECT_EQ(Text(document, "validation_errors"), "null");
  }
  const auto at_run_time = OutcomeToJson(
      Failed("SyntaxError", "invalid syntax",
             "Traceback (most recent call last):\n  File \"<sandbox>\", line 1, in <module>\n"
             "    eval('1+')\n  File \"<string>\", line 1\n    1+\n     ^\n",
             1),
      {});
  EXPECT_EQ(Text(at_run_time, "error"), "SyntaxError: invalid syntax");
  EXPECT_EQ(Text(at_run_time, "validation_errors"), "<absent>");
}

TEST(OutcomeJsonTest, DoesNotRepeatWhereASyntaxErrorIs) {
  EXPECT_EQ(
      Text(OutcomeToJson(Failed("SyntaxError", "bad (<sandbox>, line 1)", "", 1), {}), "error"),
      "Syntax error: bad (<sandbox>, line 1)");
  EXPECT_EQ(Text(OutcomeToJson(Failed("SyntaxError", "null bytes", "", 0), {}), "error"),
            "Syntax error: null bytes");
}

TEST(OutcomeJsonTest, SaysHowLongATimeoutWas) {
  Outcome outcome = Completed();
  outcome.status = ExecutionStatus::kTimedOut;
  outcome.limits_hit = {"wall"};
  outcome.message = "something else";
  ExecutionRequest request;
  request.limits.wall_ms_max = 2000;
  auto document = OutcomeToJson(outcome, request);
  EXPECT_EQ(Text(document, "error"), "Execution timed out after 2 seconds (timeout)");
  EXPECT_EQ(Text(document, "timeout"), "2");
  request.limits.wall_ms_max = 500;
  document = OutcomeToJson(outcome, request);
  EXPECT_EQ(Text(document, "error"), "Execution timed out after 0.5 seconds (timeout)");
  EXPECT_EQ(Text(document, "timeout"), "0.5");
  outcome.limits_hit = {"cpu"};
  request.limits.cpu_ms_max = 1000;
  EXPECT_EQ(Text(OutcomeToJson(outcome, request), "error"),
            "Execution timed out after 1 seconds of CPU time (timeout)");
}

TEST(OutcomeJsonTest, HasASentenceForEveryOtherEnding) {
  const auto error = [](ExecutionStatus status, std::string message) {
    Outcome outcome;
    outcome.status = status;
    outcome.message = std::move(message);
    outcome.limits_hit = {"memory", "pids"};
    return Text(OutcomeToJson(outcome, {}), "error");
  };
  EXPECT_EQ(error(ExecutionStatus::kLimitExceeded, ""), "Execution ended by a limit: memory, pids");
  EXPECT_EQ(error(ExecutionStatus::kLimitExceeded, "memory limit of 128 MiB"),
            "memory limit of 128 MiB");
  EXPECT_EQ(error(ExecutionStatus::kCancelled, ""), "Execution was cancelled");
  EXPECT_EQ(error(ExecutionStatus::kSetupFailed, "seccomp: no"), "seccomp: no");
  EXPECT_NE(error(ExecutionStatus::kViolated, ""), "");

  Outcome crashed;
  crashed.status = ExecutionStatus::kFailed;
  crashed.signal = 11;
  EXPECT_EQ(Text(OutcomeToJson(crashed, {}), "error"), "Killed by signal 11");
  EXPECT_EQ(Text(OutcomeToJson(crashed, {}), "signal"), "11");
}

TEST(OutcomeJsonTest, ListsEventsAndWarnsOfRefusedImports) {
  Outcome outcome = Completed();
  outcome.events.push_back({.seconds = 0.5,
                            .source = EventSource::kKernel,
                            .layer = "seccomp",
                            .operation = "socket",
                            .target = "AF_INET",
                            .line = 3,
                            .refused = true,
                            .rule = "no network",
                            .remedy = "--net"});
  outcome.events.push_back({.layer = "interpreter",
                            .operation = "import",
                            .target = "socket",
                            .refused = true,
                            .rule = "",
                            .remedy = ""});
  outcome.events_dropped = 7;
  outcome.missing_walls = {"landlock"};
  const auto document = OutcomeToJson(outcome, {});
  EXPECT_EQ(mcp::WriteJson(document.at("security_events").at(0)),
            R"({"time":0.5,"source":"kernel","layer":"seccomp","operation":"socket",)"
            R"("target":"AF_INET","refused":true,"line":3,"rule":"no network","remedy":"--net"})");
  EXPECT_EQ(Text(document, "security_warnings"), R"(["Blocked import attempt: socket"])");
  EXPECT_EQ(Text(document, "security_events_dropped"), "7");
  EXPECT_EQ(Text(document, "missing_walls"), R"(["landlock"])");
}

TEST(OutcomeToJsonTest, ARefusedProgramHasItsFindingsAsLines) {
  Outcome outcome;
  outcome.status = ExecutionStatus::kViolated;
  outcome.error = PythonError{"SecurityError", "m", "", 2, 0, ""};
  outcome.findings = {{2, 1, "attribute", "Attribute '__subclasses__' is refused", "w", "i", true},
                      {3, 1, "import", "Import 'os' is not allowed", "w", "i", false}};
  const auto document = OutcomeToJson(outcome, {});
  EXPECT_EQ(document.at("error"), "Code contains restricted operations");
  EXPECT_EQ(document.at("error_category"), "security");
  EXPECT_EQ(document.at("validation_errors"),
            boost::json::parse(R"(["Line 2: Attribute '__subclasses__' is refused"])"));
  EXPECT_EQ(document.at("findings").get_array().size(), 2u);
  EXPECT_FALSE(document.contains("security_event"));
}

TEST(OutcomeToJsonTest, ARefusedImportHasTheWordsClientsKnow) {
  Outcome outcome;
  outcome.status = ExecutionStatus::kViolated;
  outcome.error =
      PythonError{"ImportError", "Import of 'os' is not allowed in sandbox", "", 2, 0, ""};
  outcome.findings = {{2, 1, "import", "Import 'os' is not allowed", "w", "i", false}};
  const auto document = OutcomeToJson(outcome, {});
  EXPECT_EQ(document.at("error"), "Import of 'os' is not allowed in sandbox");
  EXPECT_EQ(document.at("security_event"), "blocked_import");
  EXPECT_EQ(document.at("error_category"), "security");
}

TEST(OutcomeToJsonTest, AModuleThatIsMissingNamesItsPackage) {
  Outcome outcome;
  outcome.status = ExecutionStatus::kFailed;
  outcome.error = PythonError{"ModuleNotFoundError", "No module named 'seaborn'", "", 1, 0, ""};
  EXPECT_EQ(OutcomeToJson(outcome, {}).at("error"),
            "ModuleNotFoundError: No module named 'seaborn' (allowed, but not installed on this "
            "machine; the Debian package python3-seaborn has it)");
  outcome.error->message = "No module named 'mine'";
  EXPECT_EQ(OutcomeToJson(outcome, {}).at("error"), "ModuleNotFoundError: No module named 'mine'");
}

TEST(OutcomeToJsonTest, FailuresHaveACategory) {
  const auto category = [](ExecutionStatus status, const char* type = "ValueError") {
    Outcome outcome;
    outcome.status = status;
    outcome.error = PythonError{type, "m", "", 1, 0, ""};
    return std::string(ErrorCategory(outcome));
  };
  EXPECT_EQ(category(ExecutionStatus::kCompleted), "");
  EXPECT_EQ(category(ExecutionStatus::kFailed), "runtime");
  EXPECT_EQ(category(ExecutionStatus::kFailed, "SyntaxError"), "syntax");
  EXPECT_EQ(category(ExecutionStatus::kTimedOut), "timeout");
  EXPECT_EQ(category(ExecutionStatus::kLimitExceeded), "resource");
  EXPECT_EQ(category(ExecutionStatus::kViolated), "security");
}

TEST(ValueToJsonTest, KeepsPlainData) {
  wire::Value::Dict dict;
  dict.push_back({"b", wire::Value{true}});
  dict.push_back({"n", wire::Value{std::uint64_t{UINT64_MAX}}});
  dict.push_back({"d", wire::Value{1.5}});
  dict.push_back({"nan", wire::Value{std::nan("")}});
  dict.push_back({"inf", wire::Value{std::numeric_limits<double>::infinity()}});
  dict.push_back({"s", wire::Value{std::string("x")}});
  dict.push_back({"l", wire::Value{wire::Value::List{wire::Value{std::int64_t{-1}}}}});
  dict.push_back({"e", wire::Value{wire::Value::List{}}});
  dict.push_back({"z", wire::Value{}});
  EXPECT_EQ(mcp::WriteJson(ValueToJson(wire::Value{std::move(dict)})),
            R"({"b":true,"n":18446744073709551615,"d":1.5,"nan":null,"inf":null,"s":"x",)"
            R"("l":[-1],"e":[],"z":null})");
}

}  // namespace
}  // namespace glovebox

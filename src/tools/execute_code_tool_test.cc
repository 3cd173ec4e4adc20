#include "tools/execute_code_tool.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "mcp/json_writer.h"
#include "tools/output_progress.h"
#include "tools/tool_fixture.h"
#include "tools/value_json.h"

namespace glovebox {
namespace {

namespace json = boost::json;

class ExecuteCodeToolTest : public ToolFixture {
 protected:
  void Call(std::string_view arguments) { ToolFixture::Call(tool_, arguments); }
  std::string ErrorOf(std::string_view arguments) { return ToolFixture::ErrorOf(tool_, arguments); }

  ExecuteCodeTool tool_{context_.get_executor(), executor_};
};

TEST_F(ExecuteCodeToolTest, RunsCodeWithTheDefaults) {
  Call(R"({"code":"2 + 2"})");
  ASSERT_EQ(executor_.runs.size(), 1u);
  EXPECT_EQ(run().request.code, "2 + 2");
  EXPECT_EQ(run().request.limits.wall_ms_max, 30'000u);
  EXPECT_EQ(run().request.limits.memory_bytes_max, 128u << 20);
  EXPECT_EQ(run().request.stdin_text, "");
  EXPECT_TRUE(call_->replies.empty());

  Outcome outcome = Completed();
  outcome.value.data = std::int64_t{4};
  outcome.value_repr = "4";
  Finish(std::move(outcome));
  ASSERT_EQ(call_->replies.size(), 1u);
  EXPECT_EQ(structured().at("result"), 4);
  EXPECT_EQ(structured().at("stdout"), "4");
  EXPECT_EQ(call_->replies[0].at("isError"), false);
  // The text block is the same document, compact.
  EXPECT_EQ(call_->replies[0].at("content").at(0).at("text").get_string(),
            mcp::WriteJson(structured()));
}

TEST_F(ExecuteCodeToolTest, TakesEveryArgument) {
  Call(R"({"code":"x","timeout":300,"memory_limit":"1G","capture_output":true,"stdin":"in"})");
  EXPECT_EQ(run().request.limits.wall_ms_max, 300'000u);
  EXPECT_EQ(run().request.limits.memory_bytes_max, 1ull << 30);
  EXPECT_EQ(run().request.stdin_text, "in");
  Call(R"({"code":"x","timeout":1.0})");
  EXPECT_EQ(run().request.limits.wall_ms_max, 1000u);
}

TEST_F(ExecuteCodeToolTest, NamesTheArgumentTheRuleAndTheValue) {
  EXPECT_EQ(ErrorOf("{}"), "Missing argument 'code': must be a string of Python code");
  EXPECT_EQ(ErrorOf(R"({"code":5})"), "Invalid argument 'code': must be a string, got 5");
  EXPECT_EQ(ErrorOf(R"({"code":"x","timeout":0})"),
            "Invalid argument 'timeout': must be an integer from 1 to 300 (seconds), got 0");
  EXPECT_EQ(
      ErrorOf(R"({"code":"x","memory_limit":"lots"})"),
      "Invalid argument 'memory_limit': must be an integer with an optional unit b, k, m or g "
      "(\"128m\"), got \"lots\"");
  EXPECT_EQ(ErrorOf(R"({"code":"x","memory_limit":"1k"})"),
            "Invalid argument 'memory_limit': must be from 16m to 4g, got \"1k\"");
  EXPECT_EQ(ErrorOf(R"({"code":"x","capture_output":"yes"})"),
            "Invalid argument 'capture_output': must be true or false, got \"yes\"");
  EXPECT_EQ(ErrorOf(R"({"code":"x","stdin":null})"),
            "Invalid argument 'stdin': must be a string, got null");
  EXPECT_EQ(ErrorOf(R"({"code":"x","use_container":1})"),
            "Invalid argument 'use_container': must be true or false, got 1");
  EXPECT_EQ(ErrorOf(R"({"code":"x","allowed_imports":"math"})"),
            "Invalid argument 'allowed_imports': must be a list of names of modules, got "
            "\"math\"");
  EXPECT_EQ(ErrorOf(R"({"code":"x","profile":"root"})"),
            "Invalid argument 'profile': must be one of basic, full, or several joined by +, got "
            "\"root\"");
  EXPECT_EQ(ErrorOf(R"({"code":"x","global_variables":{"a b":1}})"),
            "Invalid argument 'global_variables': must be an object whose keys are names that "
            "Python takes, none with __ in front, got \"a b\"");
  EXPECT_EQ(ErrorOf(R"({"code":"x","language":"js"})"),
            "Unknown argument 'language': execute_code takes code, timeout, memory_limit, "
            "use_container, allowed_imports, capture_output, profile, global_variables, stdin");
  EXPECT_TRUE(executor_.runs.empty());
}

TEST_F(ExecuteCodeToolTest, AProfileDecidesOverLanguageAndMemory) {
  Call(R"({"code":"x"})");
  EXPECT_TRUE(run().request.language.enabled);
  EXPECT_EQ(run().request.language.profile, "basic");
  EXPECT_EQ(run().request.kind, "python");
  Call(R"({"code":"x","profile":"full"})");
  EXPECT_FALSE(run().request.language.enabled);
  EXPECT_EQ(run().request.limits.memory_bytes_max, 512u << 20);
  Call(R"({"code":"x","allowed_imports":["math ","os"]})");
  EXPECT_EQ(run().request.language.modules, wire::WordList{"math"});
  Call(R"({"code":"x","allowed_imports":[]})");
  EXPECT_GT(run().request.language.modules.size(), 40u);
}

TEST_F(ExecuteCodeToolTest, GlobalVariablesReachTheBox) {
  Call(R"({"code":"x","global_variables":{"n":1,"items":[null,true,"s",{"k":2.5}]}})");
  const auto& globals = run().request.globals;
  ASSERT_EQ(globals.size(), 2u);
  EXPECT_EQ(globals[0].name, "n");
  EXPECT_EQ(mcp::WriteJson(ValueToJson(globals[1].value)), R"([null,true,"s",{"k":2.5}])");
}

TEST_F(ExecuteCodeToolTest, AskingForAContainerIsTheExecutorsToAnswer) {
  Call(R"({"code":"x"})");
  EXPECT_FALSE(run().request.use_container);
  Call(R"({"code":"x","use_container":true})");
  EXPECT_TRUE(run().request.use_container);
}

TEST_F(ExecuteCodeToolTest, TheNetworkHasBoxesOfItsOwn) {
  ExecuteCodeTool tool(context_.get_executor(), executor_,
                       {.limits = {}, .offer = {.enabled = {"basic", "network"}}});
  ToolFixture::Call(tool, R"({"code":"x","profile":"network"})");
  ASSERT_EQ(executor_.runs.size(), 1u);
  EXPECT_EQ(run().request.kind, "python+network");
}

TEST_F(ExecuteCodeToolTest, RefusesTimeoutsOutsideTheRange) {
  for (const char* timeout : {"-1", "301", "1.5", "\"5\"", "null", "true", "1e300",
                              "99999999999999999999", "18446744073709551615"}) {
    EXPECT_NE(ErrorOf(std::string(R"({"code":"x","timeout":)") + timeout + "}"), "") << timeout;
  }
}

TEST_F(ExecuteCodeToolTest, ShowsOnlyTheBeginningOfALongValue) {
  EXPECT_LT(ErrorOf(R"({"code":"x","memory_limit":")" + std::string(100'000, '9') + "\"}").size(),
            250u);
}

TEST_F(ExecuteCodeToolTest, AnswersBlankAndOversizedCodeWithoutABox) {
  Call(R"({"code":" \n\t"})");
  EXPECT_EQ(structured().at("error"), "Empty code provided");
  EXPECT_EQ(structured().at("success"), false);
  EXPECT_EQ(structured().at("execution_id").get_string().size(), 36u);
  EXPECT_EQ(call_->replies.back().at("isError"), false);

  std::string code;
  for (int i = 0; i < 100'000; ++i) code += "\xc3\xbc";
  Call("{\"code\":\"" + code + "\"}");
  EXPECT_EQ(executor_.runs.size(), 1u);
  Call("{\"code\":\"" + code + "x\"}");
  EXPECT_EQ(executor_.runs.size(), 1u);
  EXPECT_EQ(structured().at("error"), "Code too large (max 100KB)");
}

TEST_F(ExecuteCodeToolTest, KeepsOutputToItselfWhenAsked) {
  call_->progress_wanted = true;
  Call(R"({"code":"x","capture_output":false})");
  run().observer->OnStdout("secret");
  Outcome outcome = Completed();
  outcome.stdout_stream = {"secret", "tail", 5};
  outcome.stderr_stream.text = "secret";
  outcome.value_repr = "'secret'";
  outcome.value.data = std::int64_t{1};
  Finish(std::move(outcome));
  EXPECT_EQ(structured().at("stdout"), "");
  EXPECT_EQ(structured().at("stderr"), "");
  EXPECT_FALSE(structured().contains("stdout_tail"));
  EXPECT_EQ(structured().at("result"), 1);
  EXPECT_TRUE(call_->reports.empty());
}

TEST_F(ExecuteCodeToolTest, CancelsTheExecution) {
  Call(R"({"code":"x"})");
  ASSERT_TRUE(call_->cancel_hook);
  call_->cancel_hook();
  EXPECT_EQ(run().cancels, 1);
}

TEST_F(ExecuteCodeToolTest, ReportsOutputAsProgress) {
  call_->progress_wanted = true;
  Call(R"({"code":"x"})");
  run().observer->OnStdout("one\n\xe2\x82");
  ASSERT_EQ(call_->reports.size(), 1u);
  EXPECT_EQ(call_->reports[0].message, "one\n");
  // Too soon: held back until the interval is over.
  run().observer->OnStdout("\xac");
  run().observer->OnStdout("two\n");
  EXPECT_EQ(call_->reports.size(), 1u);
  context_.run_for(std::chrono::milliseconds(150));
  ASSERT_EQ(call_->reports.size(), 2u);
  EXPECT_EQ(call_->reports[1].message, "\xe2\x82\xactwo\n");
  EXPECT_GT(call_->reports[1].progress, call_->reports[0].progress);
  run().observer->OnStdout("last");
  Finish(Completed());
  ASSERT_EQ(call_->reports.size(), 3u);
  EXPECT_EQ(call_->reports[2].message, "last");
  EXPECT_EQ(call_->replies.size(), 1u);
}

TEST_F(ExecuteCodeToolTest, BoundsProgressReports) {
  call_->progress_wanted = true;
  Call(R"({"code":"x"})");
  for (int i = 0; i < 1000; ++i) run().observer->OnStdout(std::string(50'000, 'x'));
  Finish(Completed());
  ASSERT_EQ(call_->reports.size(), 2u);
  EXPECT_LE(call_->reports[1].message.size(), 4096u);
  EXPECT_EQ(call_->reports[1].progress, 50'000'000);
}

TEST_F(ExecuteCodeToolTest, DefinesSchemasThatEveryClientTakes) {
  const mcp::ToolDefinition& definition = tool_.definition();
  EXPECT_EQ(definition.name, "execute_code");
  EXPECT_EQ(definition.input_schema.at("additionalProperties"), false);
  EXPECT_EQ(definition.input_schema.at("required"), json::array{"code"});
  for (const json::object* schema : {&definition.input_schema, &definition.output_schema}) {
    EXPECT_EQ(schema->at("type"), "object");
    for (const char* key : {"oneOf", "anyOf", "allOf", "if", "not"}) {
      EXPECT_FALSE(schema->contains(key));
    }
    const std::string text = mcp::WriteJson(*schema);
    EXPECT_EQ(text.find("$ref"), std::string::npos);
    for (const auto& property : schema->at("properties").get_object()) {
      EXPECT_TRUE(property.value().at("description").is_string()) << property.key();
      const json::value* type = property.value().get_object().if_contains("type");
      EXPECT_TRUE(type == nullptr || type->is_string()) << property.key();
    }
  }
  EXPECT_LT(definition.description.size(), 2048u);
}

TEST_F(ExecuteCodeToolTest, DescribesEveryKeyItReturns) {
  Call(R"({"code":"x"})");
  Outcome outcome = Completed();
  outcome.status = ExecutionStatus::kTimedOut;
  outcome.error = PythonError{"SyntaxError", "m", "", 1, 0, ""};
  outcome.exit_code = 1;
  outcome.signal = 9;
  outcome.stdout_stream.bytes_dropped = outcome.stderr_stream.bytes_dropped = 1;
  outcome.events_dropped = 1;
  outcome.missing_walls = {"x"};
  outcome.container = "x";
  outcome.value_text = "x";
  outcome.value_notes = {"x"};
  outcome.findings = {{1, 1, "import", "what", "why", "instead", false}};
  Finish(std::move(outcome));
  const json::object& described = tool_.definition().output_schema.at("properties").get_object();
  for (const auto& member : structured()) {
    EXPECT_TRUE(described.contains(member.key())) << member.key();
  }
  EXPECT_EQ(described.size(), structured().size() + 1);  // security_event is of violations alone
}

// Runs what is due on the loop until `milliseconds` have passed.
class ExecuteCodeTaskTest : public ExecuteCodeToolTest {
 protected:
  void SetUp() override {
    call_->call_context.capabilities.tasks = true;
    call_->task = task_;
    task_->progress_wanted = true;
  }
  void Wait() { context_.run_for(std::chrono::milliseconds(50)); }

  std::shared_ptr<mcp::FakeCall> task_ = std::make_shared<mcp::FakeCall>();
  ExecuteCodeTool quick_{context_.get_executor(),
                         executor_,
                         {.limits = {}, .task_after = std::chrono::milliseconds(5)}};
};

TEST_F(ExecuteCodeTaskTest, ALongRunGoesOnAsATask) {
  ToolFixture::Call(quick_, R"({"code":"x"})");
  Wait();
  run().observer->OnStdout("still here");
  ASSERT_EQ(task_->reports.size(), 1u);
  EXPECT_EQ(task_->reports[0].message, "still here");
  ASSERT_TRUE(task_->cancel_hook);
  task_->cancel_hook();
  EXPECT_EQ(run().cancels, 1);
  Finish(Completed());
  EXPECT_TRUE(call_->replies.empty());
  ASSERT_EQ(task_->replies.size(), 1u);
  EXPECT_EQ(task_->replies[0].at("structuredContent").at("success"), true);
}

TEST_F(ExecuteCodeTaskTest, ProgressMovesWithIt) {
  call_->progress_wanted = true;
  ToolFixture::Call(quick_, R"({"code":"x"})");
  run().observer->OnStdout("before");
  Wait();
  run().observer->OnStdout("after");
  context_.restart();
  context_.run_for(2 * OutputProgress::kInterval);
  ASSERT_EQ(call_->reports.size(), 1u);
  ASSERT_EQ(task_->reports.size(), 1u);
  EXPECT_EQ(task_->reports[0].message, "after");
  Finish(Completed());
}

TEST_F(ExecuteCodeTaskTest, AShortRunIsAnsweredAtOnce) {
  ToolFixture::Call(quick_, R"({"code":"x"})");
  Finish(Completed());
  Wait();
  EXPECT_EQ(call_->replies.size(), 1u);
  EXPECT_TRUE(task_->replies.empty());
  EXPECT_FALSE(task_->cancel_hook);
}

TEST_F(ExecuteCodeTaskTest, WithoutTheExtensionThereIsNoTask) {
  call_->call_context.capabilities.tasks = false;
  ToolFixture::Call(quick_, R"({"code":"x"})");
  Wait();
  Finish(Completed());
  EXPECT_EQ(call_->replies.size(), 1u);
  EXPECT_TRUE(task_->replies.empty());
}

TEST_F(ExecuteCodeToolTest, IsDescribedForEveryClient) {
  ExpectPortable(tool_.definition());
  EXPECT_EQ(tool_.definition().tasks, mcp::TaskSupport::kOptional);
}

TEST_F(ExecuteCodeToolTest, LimitsOfTheServerReachTheBoxAndTheDescription) {
  RunLimits limits;
  limits.timeout_s_default = 5;
  limits.output_chars_max = 77;
  limits.code_chars_max = 3;
  limits.memory_bytes_max = 1ull << 30;
  ExecuteCodeTool tool(context_.get_executor(), executor_, {.limits = limits});
  ToolFixture::Call(tool, R"({"code":"x"})");
  EXPECT_EQ(run().request.limits.wall_ms_max, 5000u);
  EXPECT_EQ(run().request.limits.output_chars_max, 77u);
  EXPECT_NE(tool.definition().description.find("cut at 77 characters"), std::string::npos);
  EXPECT_NE(ToolFixture::ErrorOf(tool, R"({"code":"x","memory_limit":"2g"})").find("16m to 1g"),
            std::string::npos);
  ToolFixture::Call(tool, R"({"code":"long"})");
  EXPECT_EQ(structured().at("error"), "Code too large (max 3 characters)");
}

}  // namespace
}  // namespace glovebox

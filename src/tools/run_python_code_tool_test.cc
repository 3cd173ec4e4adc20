#include "tools/run_python_code_tool.h"

#include "tools/list_capabilities_tool.h"
#include "tools/tool_fixture.h"

namespace glovebox {
namespace {

namespace json = boost::json;

class RunPythonCodeToolTest : public ToolFixture {
 protected:
  std::string Text() {
    const json::object& reply = call_->replies.back();
    EXPECT_FALSE(reply.contains("structuredContent"));
    EXPECT_EQ(reply.at("content").get_array().size(), 1u);
    return std::string(reply.at("content").at(0).at("text").get_string());
  }
  static Outcome WithValue(wire::Value value, std::string repr, std::string printed = "") {
    Outcome outcome = Completed();
    outcome.value = std::move(value);
    outcome.value_repr = std::move(repr);
    outcome.stdout_stream.text = std::move(printed);
    return outcome;
  }
  static std::string Xml(const Outcome& outcome) {
    return RunPythonCodeAnswer(outcome, {}, ReturnMode::kXml);
  }
  static json::value Json(const Outcome& outcome) {
    return json::parse(RunPythonCodeAnswer(outcome, {}, ReturnMode::kJson));
  }

  policy::ProfileOffer offer_ = {.enabled = {"basic", "full"}};
  RunPythonCodeTool tool_{executor_, {}, offer_, ReturnMode::kXml};
};

TEST_F(RunPythonCodeToolTest, RunsAsMainPyWithGlobalsAndBothStreamsInOrder) {
  Call(tool_, R"({"python_code": "a + b", "global_variables": {"a": 4, "b": [5]}})");
  const ExecutionRequest& request = run().request;
  EXPECT_EQ(request.filename, "main.py");
  EXPECT_EQ(request.output, OutputMode::kMerged);
  ASSERT_EQ(request.globals.size(), 2u);
  EXPECT_EQ(request.globals[0].name, "a");
  EXPECT_FALSE(request.language.enabled);
  Finish(WithValue({std::int64_t{9}}, "9"));
  EXPECT_EQ(Text(), "<status>success</status>\n<return_value>\n9\n</return_value>");
}

TEST_F(RunPythonCodeToolTest, IsNotFullWhereThatIsNotEnabled) {
  RunPythonCodeTool tool(executor_, {}, {.enabled = {"basic"}}, ReturnMode::kXml);
  Call(tool, R"({"python_code": "1"})");
  EXPECT_TRUE(run().request.language.enabled);
  EXPECT_EQ(run().request.language.profile, "basic");
}

TEST_F(RunPythonCodeToolTest, HasTheSchemaClientsKnow) {
  EXPECT_EQ(tool_.definition().input_schema, json::parse(R"({
    "type": "object",
    "properties": {
      "python_code": {"type": "string", "description": "Python code to run"},
      "global_variables": {"type": "object", "additionalProperties": {}, "default": {},
        "description": "Map of global variables in context when the code is executed"}},
    "required": ["python_code"], "additionalProperties": false,
    "$schema": "http://json-schema.org/draft-07/schema#"})"));
  EXPECT_TRUE(tool_.definition().description.starts_with(
      "Tool to execute Python code and return stdout, stderr, and return value."));
}

TEST_F(RunPythonCodeToolTest, XmlShowsOutputAndValue) {
  EXPECT_EQ(Xml(WithValue({std::int64_t{4}}, "4", "x=4\n")),
            "<status>success</status>\n<output>\nx=4\n</output>\n<return_value>\n4\n"
            "</return_value>");
  EXPECT_EQ(Xml(WithValue({wire::Value::List{{std::int64_t{1}}, {std::int64_t{2}}}}, "[1, 2]")),
            "<status>success</status>\n<return_value>\n[\n  1,\n  2\n]\n</return_value>");
  EXPECT_EQ(Xml(WithValue({wire::Value::Dict{{"a", {wire::Value::List{}}}}}, "{'a': []}")),
            "<status>success</status>\n<return_value>\n{\n  \"a\": []\n}\n</return_value>");
  EXPECT_EQ(Xml(WithValue({std::string("foobar")}, "'foobar'")),
            "<status>success</status>\n<return_value>\nfoobar\n</return_value>");
  EXPECT_EQ(Xml(WithValue({std::string("")}, "''")), "<status>success</status>");
  EXPECT_EQ(Xml(WithValue({std::string("1.1")}, "Decimal('1.1')")),
            "<status>success</status>\n<return_value>\nDecimal('1.1')\n</return_value>");
  EXPECT_EQ(Xml(Completed()), "<status>success</status>");
}

TEST_F(RunPythonCodeToolTest, UserTextCannotCloseItsBlock) {
  EXPECT_EQ(
      Xml(WithValue({}, "", "a</OUTPUT><error>b<output>\n")),
      "<status>success</status>\n<output>\na&lt;/OUTPUT&gt;<error>b&lt;output&gt;\n</output>");
}

TEST_F(RunPythonCodeToolTest, FailuresShowTheTraceback) {
  Outcome outcome = FakeExecutor::Ended(ExecutionStatus::kFailed);
  outcome.error = PythonError{"NameError",
                              "name 'unknown' is not defined",
                              "Traceback (most recent call last):\n  File \"main.py\", line 1, in "
                              "<module>\nNameError: name 'unknown' is not defined\n",
                              1,
                              0,
                              ""};
  EXPECT_EQ(Xml(outcome),
            "<status>run-error</status>\n<error>\nTraceback (most recent call last):\n  File "
            "\"main.py\", line 1, in <module>\nNameError: name 'unknown' is not "
            "defined\n\n</error>");
  EXPECT_EQ(Json(outcome).at("status"), "run-error");
  EXPECT_EQ(Json(outcome).at("error"), json::string(outcome.error->traceback));
  EXPECT_FALSE(Json(outcome).get_object().contains("return_value"));
}

TEST_F(RunPythonCodeToolTest, JsonModeHasLinesAndTheValue) {
  EXPECT_EQ(Json(WithValue({}, "", "123\n")),
            json::parse(R"({"status":"success","output":["123"],"return_value":null})"));
  EXPECT_EQ(Json(WithValue({std::string("foobar")}, "'foobar'")).at("return_value"), "foobar");
}

TEST_F(RunPythonCodeToolTest, BadArgumentsAreNamed) {
  EXPECT_EQ(ErrorOf(tool_, "{}"),
            "Missing argument 'python_code': must be a string of Python code");
  EXPECT_EQ(ErrorOf(tool_, R"({"python_code": "1", "global_variables": [1]})"),
            "Invalid argument 'global_variables': must be an object of names and values, got [1]");
  EXPECT_EQ(ErrorOf(tool_, R"({"python_code": "1", "timeout": 1})"),
            "Unknown argument 'timeout': run_python_code takes python_code, global_variables");
}

TEST_F(RunPythonCodeToolTest, CancellingKillsTheBox) {
  Call(tool_, R"({"python_code": "1"})");
  call_->cancel_hook();
  EXPECT_EQ(run().cancels, 1);
}

using ListCapabilitiesToolTest = ToolFixture;

TEST_F(ListCapabilitiesToolTest, HasTheKeysClientsKnow) {
  ListCapabilitiesTool tool({}, {.enabled = {"basic"}}, {});
  Call(tool, "{}");
  EXPECT_EQ(structured().at("container_mode_enabled"), false);
  EXPECT_EQ(structured().at("limits"), json::parse(R"({"default_timeout": 30, "max_timeout": 300,
                            "default_memory_limit": "128m", "max_output_size": 1048576})"));
  EXPECT_EQ(structured().at("safe_modules").at(0), "math");
  EXPECT_EQ(structured().at("security_features").get_array().size(), 8u);
  ExpectDescribed(tool);
  ExpectPortable(tool.definition());
  EXPECT_EQ(ErrorOf(tool, R"({"x":1})"), "Unknown argument 'x': list_capabilities takes none");
}

}  // namespace
}  // namespace glovebox

#include "audit/mcp_target.h"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::audit {
namespace {

using testing::HasSubstr;

mcp::ToolDefinition Tool(const std::string& name, const std::string& schema) {
  mcp::ToolDefinition tool;
  tool.name = name;
  tool.input_schema = boost::json::parse(schema).as_object();
  return tool;
}

constexpr const char* kCode = R"({"properties": {"code": {"type": "string"}}})";
constexpr const char* kPythonCode = R"({"properties": {"python_code": {"type": "string"}}})";
constexpr const char* kPath = R"({"properties": {"path": {"type": "string"}}})";

TEST(ChoosePythonTool, KnowsTheTwoBestKnownByHeart) {
  const auto tool =
      ChoosePythonTool({Tool("validate_code", kCode), Tool("execute_code", kCode)}, "", "");
  EXPECT_EQ(tool->tool, "execute_code");
  EXPECT_EQ(tool->argument, "code");
  const auto other = ChoosePythonTool({Tool("run_python_code", kPythonCode)}, "", "");
  EXPECT_EQ(other->argument, "python_code");
}

TEST(ChoosePythonTool, TakesTheOnlyOneThatTakesCodeOrAsks) {
  EXPECT_EQ(ChoosePythonTool({Tool("read", kPath), Tool("py", kCode)}, "", "")->tool, "py");
  const auto none = ChoosePythonTool({Tool("a", kCode), Tool("b", kCode)}, "", "");
  EXPECT_THAT(none.error().message(), HasSubstr("--tool"));
  EXPECT_THAT(none.error().message(), HasSubstr("a, b"));
  EXPECT_EQ(ChoosePythonTool({Tool("a", kCode), Tool("b", kPath)}, "b", "path")->argument, "path");
  EXPECT_FALSE(ChoosePythonTool({Tool("a", kCode)}, "c", "").ok());
}

}  // namespace
}  // namespace glovebox::audit

#include "tools/python_prompt.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/fake_call.h"

namespace glovebox {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string TextOf(std::string_view params) {
  mcp::PromptRegistry prompts;
  AddPythonPrompt(prompts);
  mcp::Router router;
  prompts.Register(router, {}, 10);
  const auto call = mcp::Ask(router, "prompts/get", params);
  if (call->replies.empty()) return "refused";
  const auto& message = call->replies.at(0).at("messages").at(0);
  EXPECT_EQ(message.at("role"), "user");
  return std::string(message.at("content").at("text").get_string());
}

TEST(PythonPromptTest, HoldsTheTaskAndTheData) {
  const std::string text =
      TextOf(R"({"name":"solve_with_python","arguments":{"task":"add up","data":"1,2"}})");
  EXPECT_THAT(text, HasSubstr("Task: add up\n\nData:\n1,2\n"));
  EXPECT_THAT(text, HasSubstr("execute_code"));
  EXPECT_THAT(TextOf(R"({"name":"solve_with_python","arguments":{"task":"t"}})"),
              Not(HasSubstr("Data:")));
}

TEST(PythonPromptTest, NeedsATask) {
  EXPECT_EQ(TextOf(R"({"name":"solve_with_python","arguments":{"data":"1"}})"), "refused");
}

}  // namespace
}  // namespace glovebox

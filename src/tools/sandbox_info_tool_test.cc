#include "tools/sandbox_info_tool.h"

#include "tools/tool_fixture.h"

namespace glovebox {
namespace {

namespace json = boost::json;

json::object Inventory(std::string_view data_science) {
  json::object inventory =
      json::parse(R"({"python_version": "3.11.2", "python_implementation": "CPython",
       "allowed_imports": {"safe_stdlib": ["math"], "network": [], "filesystem": []},
       "total_allowed_modules": 200, "safe_builtins": ["abs"],
       "packages": [{"name": "numpy", "version": "1.24.2"}], "missing_walls": []})")
          .get_object();
  inventory["allowed_imports"].get_object()["data_science"] = json::parse(data_science);
  return inventory;
}

class SandboxInfoToolTest : public ToolFixture {
 protected:
  static Outcome Inventoried() {
    Outcome outcome = Completed();
    using Value = wire::Value;
    outcome.value.data =
        Value::Dict{{"python_version", {std::string("3.11.2")}},
                    {"python_implementation", {std::string("CPython")}},
                    {"allowed_imports", {Value::Dict{{"data_science", {Value::List{}}}}}},
                    {"total_allowed_modules", {std::int64_t{9}}},
                    {"safe_builtins", {Value::List{}}},
                    {"packages", {Value::List{}}}};
    return outcome;
  }

  BoxInventory inventory_{executor_};
  RunLimits limits_;
  SandboxInfoTool tool_{inventory_, limits_};
};

TEST_F(SandboxInfoToolTest, HasTheKeysClientsKnowAndSaysWhatIs) {
  RunLimits limits;
  limits.timeout_s_default = 7;
  limits.output_chars_max = 99;
  limits.memory_bytes_max = 3ull << 30;
  const json::object info = SandboxInfo(Inventory(R"(["numpy"])"), limits);
  EXPECT_EQ(info.at("restricted_python"), false);
  EXPECT_EQ(info.at("timeout_seconds"), 7);
  EXPECT_EQ(info.at("max_output_size"), 99);
  EXPECT_EQ(info.at("security_capabilities"),
            json::parse(R"({"network_enabled": false, "filesystem_enabled": true,
                            "data_science_enabled": true})"));
  EXPECT_EQ(info.at("allowed_imports").at("safe_stdlib").at(0), "math");
  EXPECT_EQ(info.at("total_allowed_modules"), 200);
  EXPECT_EQ(info.at("safe_builtins").at(0), "abs");
  EXPECT_EQ(info.at("packages").at(0).at("version"), "1.24.2");
  EXPECT_EQ(info.at("limits").at("memory_limit_max"), "3g");
  EXPECT_EQ(
      SandboxInfo(Inventory("[]"), limits).at("security_capabilities").at("data_science_enabled"),
      false);
}

TEST_F(SandboxInfoToolTest, AnswersFromABoxOnceAndThenAtOnce) {
  Call(tool_, "{}");
  ASSERT_EQ(executor_.runs.size(), 1u);
  EXPECT_TRUE(call_->replies.empty());
  Outcome outcome = Inventoried();
  outcome.missing_walls = {"Landlock ABI 1 does not cover signals"};
  Finish(std::move(outcome));
  EXPECT_EQ(structured().at("python_version"), "3.11.2");
  EXPECT_EQ(structured().at("missing_walls").at(0), "Landlock ABI 1 does not cover signals");
  ExpectDescribed(tool_);
  for (const auto& name : tool_.definition().output_schema.at("required").get_array()) {
    EXPECT_TRUE(structured().contains(name.get_string())) << name;
  }
  Call(tool_, "{}");
  EXPECT_EQ(call_->replies.size(), 2u);
  EXPECT_EQ(executor_.runs.size(), 1u);
}

TEST_F(SandboxInfoToolTest, IsAResourceToo) {
  mcp::ResourceRegistry resources;
  AddSandboxInfoResource(resources, inventory_, limits_);
  mcp::Router router;
  resources.Register(router, {}, 10);
  mcp::Ask(router, "resources/read", R"({"uri":"glovebox://sandbox-info"})", call_);
  ASSERT_EQ(executor_.runs.size(), 1u);
  Finish(FakeExecutor::Ended(ExecutionStatus::kSetupFailed, "no cgroups"));
  EXPECT_EQ(call_->failures.size(), 1u);
  mcp::Ask(router, "resources/read", R"({"uri":"glovebox://sandbox-info"})", call_);
  Finish(Inventoried());
  const auto& contents = call_->replies.at(0).at("contents").at(0);
  EXPECT_EQ(contents.at("mimeType"), "application/json");
  EXPECT_EQ(json::parse(contents.at("text").get_string()).at("python_version"), "3.11.2");
}

TEST_F(SandboxInfoToolTest, ABoxThatFailsUsIsAnError) {
  Call(tool_, "{}");
  Finish(FakeExecutor::Ended(ExecutionStatus::kSetupFailed, "no cgroups"));
  ASSERT_EQ(call_->failures.size(), 1u);
  EXPECT_EQ(call_->failures[0].message, "A box could not say what it holds: no cgroups");
}

TEST_F(SandboxInfoToolTest, TakesNoArguments) {
  EXPECT_EQ(ErrorOf(tool_, R"({"x":1})"), "Unknown argument 'x': get_sandbox_info takes none");
}

TEST_F(SandboxInfoToolTest, IsDescribedForEveryClient) { ExpectPortable(tool_.definition()); }

}  // namespace
}  // namespace glovebox

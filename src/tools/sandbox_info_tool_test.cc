#include "tools/sandbox_info_tool.h"

#include "tools/tool_fixture.h"

namespace glovebox {
namespace {

namespace json = boost::json;

json::object Inventory() {
  return json::parse(R"({"python_version": "3.11.2", "python_implementation": "CPython",
       "installed": {"basic": ["math"], "data_science": ["numpy"], "network": [],
                     "filesystem": [], "full": []},
       "importable_count": 200, "builtins": ["abs", "eval"],
       "packages": [{"name": "numpy", "version": "1.24.2"}], "missing_walls": []})")
      .get_object();
}

class SandboxInfoToolTest : public ToolFixture {
 protected:
  static Outcome Inventoried() {
    Outcome outcome = Completed();
    using Value = wire::Value;
    outcome.value.data = Value::Dict{{"python_version", {std::string("3.11.2")}},
                                     {"python_implementation", {std::string("CPython")}},
                                     {"installed",
                                      {Value::Dict{{"basic", {Value::List{}}},
                                                   {"data_science", {Value::List{}}},
                                                   {"network", {Value::List{}}},
                                                   {"filesystem", {Value::List{}}},
                                                   {"full", {Value::List{}}}}}},
                                     {"importable_count", {std::int64_t{9}}},
                                     {"builtins", {Value::List{}}},
                                     {"packages", {Value::List{}}}};
    return outcome;
  }

  BoxInventory inventory_{executor_};
  SandboxTerms terms_;
  SandboxInfoTool tool_{inventory_, terms_};
};

TEST_F(SandboxInfoToolTest, HasTheKeysClientsKnowAndSaysWhatIs) {
  SandboxTerms terms;
  terms.limits.timeout_s_default = 7;
  terms.limits.output_chars_max = 99;
  terms.limits.memory_bytes_max = 3ull << 30;
  const json::object info = SandboxInfo(Inventory(), terms);
  EXPECT_EQ(info.at("success"), true);
  EXPECT_EQ(info.at("restricted_python"), true);
  EXPECT_EQ(info.at("timeout_seconds"), 7);
  EXPECT_EQ(info.at("max_output_size"), 99);
  EXPECT_EQ(info.at("security_capabilities"),
            json::parse(R"({"network_enabled": false, "filesystem_enabled": false,
                            "data_science_enabled": false})"));
  EXPECT_EQ(info.at("allowed_imports").at("safe_stdlib").at(0), "math");
  EXPECT_TRUE(info.at("allowed_imports").at("data_science").get_array().empty());
  EXPECT_EQ(info.at("total_allowed_modules"),
            info.at("allowed_imports").at("safe_stdlib").get_array().size());
  EXPECT_EQ(info.at("safe_builtins"), json::parse(R"(["abs"])"));
  EXPECT_EQ(info.at("packages").at(0).at("version"), "1.24.2");
  EXPECT_EQ(info.at("limits").at("memory_limit_max"), "3g");
  EXPECT_EQ(info.at("resource_limits"),
            json::parse(R"({"timeout": 7, "max_timeout": 300, "max_output_size": 99,
                            "memory_limit": "128m", "max_memory_limit": "3g"})"));
  EXPECT_EQ(info.at("container_mode"), json::parse(R"({"available": false, "enabled": false})"));
}

TEST_F(SandboxInfoToolTest, TellsProfilesAndWhatIsMissingInThem) {
  SandboxTerms terms;
  terms.offer.enabled = {"basic", "data_science"};
  const json::object info = SandboxInfo(Inventory(), terms);
  EXPECT_EQ(info.at("default_profile"), "basic+data_science");
  const json::object& profiles = info.at("security_profiles").get_object();
  EXPECT_EQ(profiles.at("full").at("enabled"), false);
  EXPECT_EQ(profiles.at("basic").at("enabled"), true);
  const json::object& science = profiles.at("data_science").get_object();
  EXPECT_EQ(science.at("memory_limit"), "512m");
  EXPECT_EQ(science.at("not_installed").at("seaborn"), "python3-seaborn");
  EXPECT_FALSE(science.at("not_installed").get_object().contains("numpy"));
}

TEST_F(SandboxInfoToolTest, AListOfTheOperatorIsShownAlsoOutsideTheCategories) {
  SandboxTerms terms;
  terms.offer.allowed_imports = {"math", "os"};
  const json::object info = SandboxInfo(Inventory(), terms);
  EXPECT_EQ(info.at("allowed_imports").at("safe_stdlib"), json::parse(R"(["math"])"));
  EXPECT_EQ(info.at("allowed_imports").at("other"), json::parse(R"(["os"])"));
  EXPECT_EQ(info.at("total_allowed_modules"), 2);
}

TEST_F(SandboxInfoToolTest, FullMeansEveryModule) {
  SandboxTerms terms;
  terms.offer.default_profile = "full";
  const json::object info = SandboxInfo(Inventory(), terms);
  EXPECT_EQ(info.at("restricted_python"), false);
  EXPECT_EQ(info.at("total_allowed_modules"), 200);
  EXPECT_EQ(info.at("import_policy"), "every installed module can be imported");
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
  AddSandboxInfoResource(resources, inventory_, terms_);
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

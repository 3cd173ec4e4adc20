#include "tools/box_inventory.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "executor/fake_executor.h"

namespace glovebox {
namespace {

wire::Value Text(std::string text) { return {std::move(text)}; }

wire::Value::Dict Answer() {
  return {{"python_version", Text("3.11.2")},
          {"python_implementation", Text("CPython")},
          {"installed",
           {wire::Value::Dict{{"basic", {wire::Value::List{}}},
                              {"data_science", {wire::Value::List{}}},
                              {"network", {wire::Value::List{}}},
                              {"filesystem", {wire::Value::List{}}},
                              {"full", {wire::Value::List{}}}}}},
          {"importable_count", {std::int64_t{9}}},
          {"builtins", {wire::Value::List{}}},
          {"packages", {wire::Value::List{}}}};
}

class BoxInventoryTest : public testing::Test {
 protected:
  void Get() {
    inventory_.Get([this](const Result<boost::json::object>& result) {
      heard_.push_back(result ? std::string(result->at("python_version").as_string())
                              : result.error().message());
    });
  }
  void Finish(wire::Value::Dict answer) {
    Outcome outcome = FakeExecutor::Ended(ExecutionStatus::kCompleted);
    outcome.value.data = std::move(answer);
    executor_.runs.back()->done(std::move(outcome));
  }
  FakeExecutor executor_;
  BoxInventory inventory_{executor_};
  std::vector<std::string> heard_;
};

TEST_F(BoxInventoryTest, AsksOneBoxForEverybodyAndRemembers) {
  Get();
  Get();
  ASSERT_EQ(executor_.runs.size(), 1u);
  EXPECT_EQ(executor_.runs[0]->request.globals.at(0).name, "profiles");
  EXPECT_TRUE(heard_.empty());
  Finish(Answer());
  EXPECT_EQ(heard_, std::vector<std::string>(2, "3.11.2"));
  Get();
  EXPECT_EQ(heard_.size(), 3u);
  EXPECT_EQ(executor_.runs.size(), 1u);
}

TEST_F(BoxInventoryTest, AFailureIsNotRemembered) {
  Get();
  executor_.runs.back()->done(FakeExecutor::Ended(ExecutionStatus::kSetupFailed, "no box"));
  EXPECT_EQ(heard_.back(), "A box could not say what it holds: no box");
  Get();
  ASSERT_EQ(executor_.runs.size(), 2u);
  Finish(Answer());
  EXPECT_EQ(heard_.back(), "3.11.2");
}

TEST_F(BoxInventoryTest, AnAnswerThatLacksSomethingIsAFailure) {
  for (std::size_t i = 0; i < Answer().size(); ++i) {
    Get();
    wire::Value::Dict answer = Answer();
    answer[i].value = {true};
    Finish(std::move(answer));
    EXPECT_EQ(heard_.back().substr(0, 11), "A box could") << i;
  }
}

}  // namespace
}  // namespace glovebox

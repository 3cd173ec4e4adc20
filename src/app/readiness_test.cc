#include "app/readiness.h"

#include <gtest/gtest.h>

#include "executor/fake_executor.h"

namespace glovebox {
namespace {

class ReadinessTest : public testing::Test {
 protected:
  void End(ExecutionStatus status, const std::string& message = "") {
    executor_.runs.back()->done(FakeExecutor::Ended(status, message));
  }
  FakeExecutor executor_;
  Readiness readiness_{executor_};
};

TEST_F(ReadinessTest, IsReadyWhenABoxHasRun) {
  EXPECT_EQ(readiness_.WhyNot(), "Python is starting");
  EXPECT_EQ(readiness_.WhyNot(), "Python is starting");
  ASSERT_EQ(executor_.runs.size(), 1u);
  End(ExecutionStatus::kCompleted);
  EXPECT_EQ(readiness_.WhyNot(), "");
  EXPECT_EQ(executor_.runs.size(), 1u);
}

TEST_F(ReadinessTest, TriesAgainAfterABoxThatCouldNotBeBuilt) {
  readiness_.Probe();
  End(ExecutionStatus::kSetupFailed, "no cgroups");
  EXPECT_EQ(readiness_.WhyNot(), "no cgroups");
  ASSERT_EQ(executor_.runs.size(), 2u);
  End(ExecutionStatus::kCompleted);
  EXPECT_EQ(readiness_.WhyNot(), "");
  readiness_.OnExecution(FakeExecutor::Ended(ExecutionStatus::kSetupFailed));
  EXPECT_EQ(readiness_.WhyNot(), "no box can be built");
}

TEST_F(ReadinessTest, LearnsFromTheExecutionsOfOthers) {
  readiness_.OnExecution(FakeExecutor::Ended(ExecutionStatus::kCancelled));
  EXPECT_NE(readiness_.WhyNot(), "");
  readiness_.OnExecution(FakeExecutor::Ended(ExecutionStatus::kFailed));
  EXPECT_EQ(readiness_.WhyNot(), "");
}

TEST_F(ReadinessTest, IsNotReadyWhileDraining) {
  readiness_.OnExecution(FakeExecutor::Ended(ExecutionStatus::kCompleted));
  readiness_.Drain();
  EXPECT_EQ(readiness_.WhyNot(), "the server is shutting down");
}

}  // namespace
}  // namespace glovebox

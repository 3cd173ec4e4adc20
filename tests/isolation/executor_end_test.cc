// The end of an executor: everything of it goes, also when a box is running or still dying.
#include "audit/witness.h"
#include "bystander.h"
#include "isolation_fixture.h"
#include "leftover.h"

namespace glovebox::isolation {
namespace {

using sandbox::Walls;

constexpr int kCleanupMs = 3'000;

class ExecutorEndTest : public IsolationTest {
 protected:
  void SetUp() override {
    IsolationTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    RunOnce();  // what stays, such as the folder of the locks and the loop's own descriptors, is
                // there
    Runner().Clear();
    before_ = LookAtHost();
  }

  static void RunOnce() {
    ExecutionRequest request;
    request.code = "print(1)";
    const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
    EXPECT_EQ(outcome.status, ExecutionStatus::kCompleted) << Summary(outcome);
  }

  std::string LeftBehind() { return AwaitNoLeftovers(before_, kCleanupMs); }

  HostState before_;
};

TEST_F(ExecutorEndTest, AfterABoxIsGone) {
  RunOnce();
  Runner().Clear();
  EXPECT_EQ(LeftBehind(), "");
}

TEST_F(ExecutorEndTest, BeforeTheZygoteIsUp) {
  ASSERT_NE(Runner().ExecutorFor(Walls::All()), nullptr) << Runner().problem();
  Runner().Drop();
  EXPECT_EQ(LeftBehind(), "");
}

TEST_F(ExecutorEndTest, WhileRequestsWait) {
  Executor* executor = Runner().ExecutorFor(Walls::All());
  ASSERT_NE(executor, nullptr) << Runner().problem();
  for (int i = 0; i < 3; ++i) executor->Start({}, nullptr, [](const Outcome&) {});
  Runner().Drop();
  EXPECT_EQ(LeftBehind(), "");
}

TEST_F(ExecutorEndTest, WhileABoxRuns) {
  Executor* executor = Runner().ExecutorFor(Walls::All());
  ASSERT_NE(executor, nullptr) << Runner().problem();
  Bystander bystander(Runner());
  ASSERT_TRUE(bystander.Start(*executor));
  EXPECT_FALSE(BoxProcesses().empty());
  Runner().Drop();
  EXPECT_EQ(LeftBehind(), "");
}

TEST_F(ExecutorEndTest, WhileABoxIsDying) {
  for (int i = 0; i < 10; ++i) {
    RunOnce();  // the outcome comes before the last process of the box is gone
    Runner().Drop();
    EXPECT_EQ(LeftBehind(), "") << "round " << i;
  }
}

}  // namespace
}  // namespace glovebox::isolation

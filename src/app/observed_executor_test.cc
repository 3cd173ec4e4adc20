#include "app/observed_executor.h"

#include <string>

#include <gtest/gtest.h>

#include "executor/fake_executor.h"

namespace glovebox {
namespace {

TEST(ObservedExecutorTest, TellsOfEveryOutcomeAndPassesEverythingOn) {
  FakeExecutor inner;
  std::string heard;
  ObservedExecutor observed(inner,
                            [&](const Outcome& outcome) { heard += "ended " + outcome.message; });
  ExecutionObserver observer;
  ExecutionRequest request;
  request.code = "code";
  const auto execution = observed.Start(std::move(request), &observer, [&](const Outcome& outcome) {
    heard += ", done " + outcome.message;
  });
  ASSERT_EQ(inner.runs.size(), 1u);
  EXPECT_EQ(inner.runs[0]->request.code, "code");
  EXPECT_EQ(inner.runs[0]->observer, &observer);
  execution->Cancel();
  EXPECT_EQ(inner.runs[0]->cancels, 1);
  inner.runs[0]->done(FakeExecutor::Ended(ExecutionStatus::kFailed, "badly"));
  EXPECT_EQ(heard, "ended badly, done badly");
  inner.current_load = {3, 4};
  EXPECT_EQ(observed.load().running, 3u);
  EXPECT_EQ(observed.load().waiting, 4u);
}

}  // namespace
}  // namespace glovebox

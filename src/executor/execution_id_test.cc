#include "executor/execution_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

TEST(ExecutionIdTest, IsAVersion4Uuid) {
  EXPECT_THAT(
      NewExecutionId(),
      testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(ExecutionIdTest, IsFreshEachTime) { EXPECT_NE(NewExecutionId(), NewExecutionId()); }

}  // namespace
}  // namespace glovebox

#include "transport/coroutine.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

Coroutine Count(std::vector<int>& seen, std::shared_ptr<int> held) {
  for (int i = 0; i < *held; ++i) {
    seen.push_back(i);
    co_await std::suspend_always{};
  }
}

TEST(CoroutineTest, RunsFromWakeToWakeAndThenNoMore) {
  std::vector<int> seen;
  Coroutine coroutine = Count(seen, std::make_shared<int>(2));
  EXPECT_EQ(seen, (std::vector<int>{}));
  coroutine.Wake();
  EXPECT_EQ(seen, (std::vector<int>{0}));
  coroutine.Wake();
  coroutine.Wake();
  coroutine.Wake();
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

TEST(CoroutineTest, TakesItsFrameAlongWhereverItStands) {
  std::vector<int> seen;
  const auto held = std::make_shared<int>(5);
  {
    Coroutine coroutine = Count(seen, held);
    coroutine.Wake();
    Coroutine moved = std::move(coroutine);
    moved.Wake();
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  Coroutine().Wake();
}

}  // namespace
}  // namespace glovebox

#include "mcp/delay_queue.h"

#include <chrono>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

using std::chrono::milliseconds;

struct Counter {
  int called = 0;
  int wanted = 1;
};
using Queue = DelayQueue<Counter>;

bool Count(Counter& counter) { return ++counter.called < counter.wanted; }

TEST(DelayQueueTest, CallsEachItemOnceOrAsOftenAsItWants) {
  boost::asio::io_context context;
  const auto queue = std::make_shared<Queue>(context.get_executor(), milliseconds(2), Count);
  const auto once = std::make_shared<Counter>();
  const auto thrice = std::make_shared<Counter>(Counter{0, 3});
  queue->Add(once);
  queue->Add(thrice);
  EXPECT_EQ(once->called, 0) << "not in the call that adds it";
  context.run();
  EXPECT_EQ(once->called, 1);
  EXPECT_EQ(thrice->called, 3);
  queue->Add(once);
  context.restart();
  context.run();
  EXPECT_EQ(once->called, 2) << "an empty queue begins anew";
}

TEST(DelayQueueTest, ItemsThatAreGoneCostNoWaiting) {
  boost::asio::io_context context;
  const auto queue = std::make_shared<Queue>(context.get_executor(), milliseconds(2), Count);
  for (int count = 0; count < 100; ++count) queue->Add(std::make_shared<Counter>());
  const auto kept = std::make_shared<Counter>();
  queue->Add(kept);
  context.run();
  EXPECT_EQ(kept->called, 1);
  EXPECT_EQ(queue->size(), 0u);
}

TEST(DelayQueueTest, TheQueueMayEndFirst) {
  boost::asio::io_context context;
  auto queue = std::make_shared<Queue>(context.get_executor(), milliseconds(1), Count);
  const auto counter = std::make_shared<Counter>();
  queue->Add(counter);
  queue.reset();
  context.run();
  EXPECT_EQ(counter->called, 0);
}

}  // namespace
}  // namespace glovebox::mcp

#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace glovebox::mcp {

// Does something with each item a fixed time after it was added, unless the item is gone by then.
// One timer for any number of items: the delay is the same for all, so they are due in their order,
// and those that went away before their time cost nothing.
//
// Thread rule: the thread of the executor's io_context. Owned by a shared_ptr.
template <typename Item>
class DelayQueue : public std::enable_shared_from_this<DelayQueue<Item>> {
 public:
  // True: once more after the same delay. May add and drop items.
  using Due = bool (*)(Item& item);

  DelayQueue(const boost::asio::any_io_executor& executor, std::chrono::milliseconds delay, Due due)
      : timer_(executor), delay_(delay), due_(due) {}

  void Add(std::weak_ptr<Item> item) {
    waiting_.push_back({Clock::now() + delay_, std::move(item)});
    if (!armed_) Arm();
  }

  std::size_t size() const { return waiting_.size(); }

 private:
  using Clock = boost::asio::steady_timer::clock_type;
  struct Entry {
    Clock::time_point due;
    std::weak_ptr<Item> item;
  };

  void Arm() {
    while (!waiting_.empty() && waiting_.front().item.expired()) waiting_.pop_front();
    armed_ = !waiting_.empty();
    if (!armed_) return;
    timer_.expires_at(waiting_.front().due);
    timer_.async_wait([weak = this->weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (!error && self) self->Run();
    });
  }

  void Run() {
    const Clock::time_point now = Clock::now();
    while (!waiting_.empty() && waiting_.front().due <= now) {
      auto weak = std::move(waiting_.front().item);
      waiting_.pop_front();
      const auto item = weak.lock();
      if (item && due_(*item)) waiting_.push_back({now + delay_, std::move(weak)});
    }
    Arm();
  }

  boost::asio::steady_timer timer_;
  const std::chrono::milliseconds delay_;
  const Due due_;
  std::deque<Entry> waiting_;
  bool armed_ = false;
};

}  // namespace glovebox::mcp

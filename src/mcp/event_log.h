#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::mcp {

// Names one event of one stream: "<stream>-<sequence>", both decimal.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t sequence = 0;

  bool operator==(const EventId&) const = default;
};
std::string ToText(EventId id);
// Reads a Last-Event-ID, which may be anything. Takes only what ToText writes: one spelling each.
std::optional<EventId> ParseEventId(std::string_view text);

// Bytes that the logs of many sessions share. A log that finds none left keeps less of its own.
struct ReplayBudget {
  std::size_t bytes_max = 0;
  std::size_t bytes_used = 0;
};

// What a session has sent on its streams, newest last and within a bound, so that a client whose
// connection broke can have the rest of a stream (and of no other). The oldest events make room.
//
// Thread rule: the thread of the server's io_context.
class EventLog {
 public:
  // What an event costs besides its text.
  static constexpr std::size_t kEventOverhead = 64;

  // At most `bytes_max` here, and no more than `budget` has left. `budget` may be null.
  explicit EventLog(std::size_t bytes_max, std::shared_ptr<ReplayBudget> budget = nullptr);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // A new stream's number; they count up from 0.
  std::uint64_t OpenStream();
  // The stream gets no more events. What it has stays readable.
  void CloseStream(std::uint64_t stream);

  // The id of the next event. `stream` must be open.
  EventId NextId(std::uint64_t stream);
  // Keeps the text of an event that NextId named. One that alone exceeds the bound is not kept.
  void Keep(EventId id, std::string data);

  struct Event {
    EventId id;
    std::string_view data;
  };
  // What came after `last` on its stream and is still kept, oldest first; valid until the next
  // change. kInvalidArgument: no such event was ever sent. kLimit: the stream has ended, and its
  // end is no longer kept.
  Result<std::vector<Event>> After(EventId last) const;

  std::size_t bytes() const { return bytes_; }
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  struct Kept {
    EventId id;
    std::string data;
  };
  struct Stream {
    std::uint64_t next_sequence = 0;
    std::uint64_t kept = 0;
    bool open = true;
  };

  void DropOldest();
  void ForgetIfUseless(std::map<std::uint64_t, Stream>::iterator stream);

  const std::size_t bytes_max_;
  const std::shared_ptr<ReplayBudget> budget_;
  std::deque<Kept> events_;
  std::map<std::uint64_t, Stream> streams_;  // open, or with events kept
  std::uint64_t next_stream_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace glovebox::mcp

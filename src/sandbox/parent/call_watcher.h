#pragma once

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "event/event.h"
#include "sandbox/compile/filters.h"

namespace glovebox::sandbox {

inline constexpr std::size_t kCallEventsMax = 256;             // kept in detail for one box
inline constexpr std::uint64_t kCallEventsBeforeEnd = 10'000;  // then the box is ended

// What the system-call filter refused to one box. Written by the watcher's thread, taken by the
// executor's; an attempt is in here before the box gets its answer.
class CallRecord {
 public:
  // `on_flood` runs once, on the watcher's thread, at kCallEventsBeforeEnd attempts.
  explicit CallRecord(std::function<void()> on_flood) : on_flood_(std::move(on_flood)) {}

  // Times are counted from here.
  void StartClock();

  struct Taken {
    std::vector<Event> events;
    std::uint64_t dropped = 0;  // counted, without details
  };
  Taken Take();

 private:
  friend class CallWatcher;
  void Add(Event event);

  std::mutex mutex_;
  std::function<void()> on_flood_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Taken taken_;
  std::uint64_t count_ = 0;
};

// A box that has a network of its own, in which nothing is but lo.
struct OwnNetwork {
  std::string remedy;  // how a program gets out, for the events of those that try another way
};

// One call that a filter handed to the supervisor. Its text is evidence: the caller can change its
// memory at any moment.
struct CallAttempt {
  std::string_view call;  // "openat"
  std::string target;     // as DescribeTarget says it
  std::array<std::uint64_t, 6> arguments;
  pid_t pid;  // of the calling thread, as the host numbers it
};

// What is made of the calls of a box whose filter is not that of Python boxes. Used on the
// watcher's thread.
class CallJudge {
 public:
  virtual ~CallJudge() = default;
  // The calls of that filter, by number.
  virtual std::span<const WatchedCall> calls() const = 0;
  // A call was refused by the filter; `event` has everything but the remedy.
  virtual void Refused(const CallAttempt& attempt, Event event) = 0;
  // A call is about to be made, and is decided by other walls.
  virtual void Observed(const CallAttempt& attempt) = 0;
};

// Answers the calls that the filters of boxes hand to their supervisor. Those of Python boxes
// always with a refusal, but for one: `connect` in a box with a network of its own, when it leads
// to lo. The box can change the address after it was read here; lo is all it could reach with any.
// Those that a judge only observes are made. Has a thread of its own, so that a busy server delays
// no box and a box that attempts much delays no server.
class CallWatcher {
 public:
  static Result<std::unique_ptr<CallWatcher>> Start();
  ~CallWatcher();  // calls of boxes still alive fail with ENOSYS from then on
  CallWatcher(const CallWatcher&) = delete;
  CallWatcher& operator=(const CallWatcher&) = delete;

  using Number = std::uint64_t;  // of what is watched; never 0

  // From now until the last process under that filter is gone, or until Forget. From any thread.
  Number Watch(UniqueFd listener, std::shared_ptr<CallRecord> record,
               std::optional<OwnNetwork> network = std::nullopt);
  void Watch(UniqueFd listener, std::shared_ptr<CallJudge> judge);

  // For a box that is about to be killed: nobody need be woken to learn of its end. Its calls fail
  // with ENOSYS from here on. One that is forgotten already is fine.
  void Forget(Number number);

 private:
  struct Watched {
    UniqueFd listener;
    std::shared_ptr<CallRecord> record;
    std::optional<OwnNetwork> network;
    std::shared_ptr<CallJudge> judge;  // instead of the record
    bool polled = false;               // and not in `boxes_`
  };
  // What the thread waits for at once.
  struct Awaited {
    std::vector<pollfd> polled;   // the news, the boxes, then listeners
    std::vector<Number> numbers;  // of those listeners
  };

  CallWatcher(UniqueFd news, UniqueFd boxes) : news_(std::move(news)), boxes_(std::move(boxes)) {}
  void Wake();
  void Run();
  bool List(Awaited& awaited);
  void ServeBoxes();
  void Serve(Number number, bool asked);
  void PollFromNowOn(Watched& watched);
  static void Answer(Watched& watched);
  static seccomp_notif_resp Decide(Watched& watched, const seccomp_notif& request);

  const UniqueFd news_;   // readable when there is a new listener to poll, or the end has come
  const UniqueFd boxes_;  // an epoll instance
  std::mutex mutex_;
  bool stopped_ = false;
  Number last_ = 0;
  std::map<Number, std::shared_ptr<Watched>> watched_;
  std::thread thread_;
};

}  // namespace glovebox::sandbox

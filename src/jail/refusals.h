#pragma once

// What a jail refused, as sentences, and the judge that finds them out. That something was refused
// is decided by the walls; here it gets a name and the flag that would allow it.

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "jail/places.h"
#include "sandbox/parent/call_watcher.h"

namespace glovebox::jail {

struct Refusal {
  std::chrono::steady_clock::time_point when;
  std::string act;     // "read", "write", "run", "connect to", "io_uring_setup"
  std::string target;  // "/root/.ssh/id_ed25519", "93.184.216.34:443"
  std::string rule;    // "no grant shows it"
  std::string remedy;  // "--read /root/.ssh", or a sentence that nothing allows it

  // "read /etc/shadow: no grant shows it; allow with --read /etc/shadow"
  std::string Text() const;
};

// Bounded: the last kRefusalsKept, each (act, target) said once to people.
inline constexpr std::size_t kRefusalsKept = 256;
inline constexpr std::size_t kRefusalsSaid = 64;

// From any thread.
class RefusalLog {
 public:
  static Result<std::shared_ptr<RefusalLog>> Make();

  void Add(Refusal refusal);
  // Readable when something new is to be said.
  int event_fd() const { return event_.get(); }
  // What people have not been told yet; afterwards nothing is new.
  std::vector<Refusal> TakeNew();
  // Everything since then, the same only once.
  std::vector<Refusal> Since(std::chrono::steady_clock::time_point when) const;
  std::uint64_t count() const;

 private:
  explicit RefusalLog(UniqueFd event) : event_(std::move(event)) {}
  const UniqueFd event_;
  mutable std::mutex mutex_;
  std::deque<Refusal> kept_;
  std::vector<Refusal> fresh_;
  std::set<std::string> said_;
  std::uint64_t count_ = 0;
};

struct JudgeOptions {
  Places places;
  bool has_network = false;  // hosts were granted, and there is a proxy
};

// Compares what a program does with what it was shown.
class Judge final : public sandbox::CallJudge {
 public:
  Judge(JudgeOptions options, std::shared_ptr<RefusalLog> log)
      : options_(std::move(options)), log_(std::move(log)) {}

  std::span<const WatchedCall> calls() const override { return ServerWatchedCalls(); }
  void Refused(const sandbox::CallAttempt& attempt, Event event) override;
  void Observed(const sandbox::CallAttempt& attempt) override;

  // What is refused at `path`, if anything. `box_root`: where the box's own root can be looked at,
  // to tell what lies in its private folders; empty when it cannot.
  enum class Use : std::uint8_t { kRead, kWrite, kRun };
  std::optional<Refusal> JudgePath(const std::string& path, Use use,
                                   const std::string& box_root = "") const;
  std::optional<Refusal> JudgeAddress(const std::string& address) const;
  Refusal NameLookUp() const;

 private:
  JudgeOptions options_;
  std::shared_ptr<RefusalLog> log_;
};

}  // namespace glovebox::jail

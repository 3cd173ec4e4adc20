#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "executor/box.h"
#include "executor/executor.h"
#include "executor/output_limiter.h"
#include "python/wire/gate.h"
#include "sandbox/parent/cgroup.h"

namespace glovebox {

// Why the server ended a run.
enum class KillReason : std::uint8_t {
  kNone,
  kWallClock,
  kCpuClock,
  kMemory,
  kOutput,
  kEvents,
  kProtocol,  // it sent something that is no answer
  kCancelled,
};

// What was learned about a run from outside, and what the box said itself. The raw material of an
// Outcome; see Judge().
struct BoxReport {
  KillReason killed = KillReason::kNone;
  std::optional<wire::RunResult> result;
  std::optional<int> wait_status;  // Python's, from init
  std::uint64_t init_cpu_us = 0;
  std::optional<sandbox::CgroupUsage> usage;
  std::uint64_t sampled_peak_bytes = 0;  // without a cgroup
  double wall_seconds = 0;
  bool in_container = false;
};

// Turns what is known into status, exit code, limits and sentences. Output streams, ids and queue
// time are the caller's.
Outcome Judge(const BoxReport& report, const ExecutionRequest& request);

// One request in one box that waited for it: hand-over, clocks, output, verdict. Keeps itself alive
// through its handlers.
class BoxRun : public std::enable_shared_from_this<BoxRun> {
 public:
  struct Handlers {
    std::function<void(Outcome)> done;  // once, as soon as the outcome is known
    // Instead of `done`: the box died before it had read the request, of which nothing has run.
    std::function<void()> unread;
  };

  // Precondition: box->waiting().
  BoxRun(boost::asio::io_context& context, std::shared_ptr<Box> box, ExecutionRequest request,
         ExecutionObserver* observer, Handlers handlers);

  // Hands the request over. Fails when the box cannot be given the request's limits.
  Status Start();
  // Gives a program that goes on what it needs: clocks, somebody who reads its output, the end of
  // its input. To be called within milliseconds of Start(), which has done it where input waits or
  // memory is metered; a program that has ended by then does without. Again, it does nothing.
  void Attend();
  bool attended() const { return attended_; }
  void Cancel() { Kill(KillReason::kCancelled); }
  // For a run whose box never read it.
  ExecutionRequest TakeRequest() { return std::move(request_); }
  // The executor goes away: no handler is called any more.
  void Abandon();

 private:
  using Clock = std::chrono::steady_clock;
  using Descriptor = Box::Descriptor;

  Status SetLimits();
  void SendRequest();
  void TakeAnswer();
  ssize_t ReadGateBytes();
  void TakeGateBytes(std::string_view bytes);
  void ListenLater();
  void ReadOutput(Descriptor& descriptor, OutputLimiter& limiter);
  void TakeOutput(OutputLimiter& limiter, std::string_view bytes);
  void DrainNow();
  void WatchMemory();
  void MeterMemory();
  void ArmMeter(std::chrono::milliseconds after);
  void ArmWallClock();
  void ArmCpuClock();
  void FeedInput();
  void PumpInput();
  void Kill(KillReason reason);
  void OnDeath();
  void Deliver();
  void StopWaiting();
  void TakeEvents(Outcome& outcome);
  bool over() const { return delivered_ || report_.killed != KillReason::kNone; }

  boost::asio::io_context& context_;
  const std::shared_ptr<Box> box_;
  ExecutionRequest request_;
  ExecutionObserver* observer_;
  Handlers handlers_;
  std::uint64_t nonce_;
  Descriptor input_;  // the request's own stdin_fd, when it has one
  Descriptor stdin_;  // the box's, when there is something to write
  // The box's own pipes, from the moment when they are awaited: released, not closed.
  Descriptor stdout_;
  Descriptor stderr_;
  Descriptor oom_event_;  // closed where the kernel does not tell, and in a run's first moments
  boost::asio::steady_timer listen_timer_;
  boost::asio::steady_timer wall_timer_;
  boost::asio::steady_timer cpu_timer_;
  boost::asio::steady_timer memory_timer_;
  OutputLimiter stdout_limiter_;
  OutputLimiter stderr_limiter_;
  wire::FrameParser parser_;
  std::string run_frame_;  // empty once it has gone into the gate whole
  BoxReport report_;
  Clock::time_point handed_over_at_;
  bool attended_ = false;
  bool unread_ = false;
  bool delivered_ = false;
};

}  // namespace glovebox

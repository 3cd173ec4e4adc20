#pragma once

#include <sys/types.h>

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
#include "executor/box_channels.h"
#include "executor/executor.h"
#include "executor/output_limiter.h"
#include "python/wire/gate.h"
#include "sandbox/parent/call_watcher.h"
#include "sandbox/parent/cgroup.h"
#include "sandbox/parent/memory_meter.h"
#include "sandbox/plan/child_plan.h"

namespace glovebox {

// Why the server killed a box.
enum class KillReason : std::uint8_t {
  kNone,
  kWallClock,
  kCpuClock,
  kMemory,
  kOutput,
  kEvents,
  kProtocol,  // it sent something that is no answer
  kBirth,     // it was not ready in time
  kCancelled,
};

// What was learned about a box from outside, and what it said itself. The raw material of an
// Outcome; see Judge().
struct BoxReport {
  KillReason killed = KillReason::kNone;
  std::optional<Error> setup_error;  // ours: the box was never ready
  bool handed_over = false;          // ready, and the request is inside
  std::optional<wire::RunResult> result;
  std::optional<int> wait_status;  // Python's, from init
  std::uint64_t init_cpu_us = 0;
  std::optional<sandbox::CgroupUsage> usage;
  std::uint64_t sampled_peak_bytes = 0;  // without a cgroup
  double wall_seconds = 0;
};

// Turns what is known into status, exit code, limits and sentences. Output streams, ids and queue
// time are the caller's.
Outcome Judge(const BoxReport& report, const ExecutionRequest& request);

// One request in one box, from the moment the box is asked for until nothing of it is left. Keeps
// itself alive through its handlers.
class BoxRun : public std::enable_shared_from_this<BoxRun> {
 public:
  struct Handlers {
    std::function<void(Outcome)> done;  // once, as soon as the outcome is known
    std::function<void()> gone;         // once, when no process of the box is left
  };

  // What of the executor's a run uses; all of it must outlive `gone`.
  struct Means {
    sandbox::CgroupSlot* cgroup = nullptr;    // null: the cgroup wall is down, or tier B
    sandbox::CallWatcher* watcher = nullptr;  // null: the seccomp wall is down
    // Tier B: memory is measured by looking at the box, whose own tmpfs these are.
    const std::vector<std::string>* measured_tmpfs = nullptr;
    // The box has no namespaces; and, metered or not, this is the folder it may write.
    const std::string* shared_folder = nullptr;
  };
  BoxRun(boost::asio::io_context& context, ExecutionRequest request, ServerEnds channels,
         Means means, ExecutionObserver* observer, Handlers handlers);

  // The box was asked for: from here on it has to be ready in time.
  void Begin();
  // The box's init exists; or could not be made.
  void OnBorn(Result<UniqueFd> pidfd);
  void Cancel() { Kill(KillReason::kCancelled); }
  // For a box that was never born.
  ExecutionRequest TakeRequest() { return std::move(request_); }
  // Its outcome is known, or nobody wants it.
  bool over() const { return delivered_ || report_.killed != KillReason::kNone; }
  // The executor goes away: no handler is called any more, the slot is not touched again.
  void Abandon();

 private:
  using Clock = std::chrono::steady_clock;
  using Descriptor = boost::asio::posix::stream_descriptor;

  void WatchDeath();
  void ReadGate();
  void ReadStatus();
  ssize_t ReadSome(Descriptor& descriptor);
  ssize_t ReadGateBytes();
  void WatchCalls(UniqueFd listener);
  void TakeEvents(Outcome& outcome);
  void ReadOutput(Descriptor& descriptor, OutputLimiter& limiter);
  void WatchMemory();
  void ArmWallClock();
  void ArmCpuClock();
  void StartMeter();
  void MeterMemory();
  void HandOver();
  void FeedInput();
  void PumpInput();
  void TakeOutput(OutputLimiter& limiter, std::string_view bytes);
  void TakeGateBytes(std::string_view bytes);
  void TakeStatus(const sandbox::StatusRecord& record);
  void DrainNow();
  void Kill(KillReason reason);
  void EndBox();
  void OnDeath();
  void CloseAll();
  void Deliver();

  boost::asio::io_context& context_;
  ExecutionRequest request_;
  sandbox::CgroupSlot* slot_;
  sandbox::CallWatcher* watcher_;
  const std::vector<std::string>* measured_tmpfs_;
  const std::string* shared_folder_;
  std::optional<sandbox::MemoryMeter> meter_;   // tier B, from the hand-over on
  std::shared_ptr<sandbox::CallRecord> calls_;  // once the filter's listener is here
  ExecutionObserver* observer_;
  Handlers handlers_;
  std::uint64_t nonce_;
  Descriptor stdin_;
  Descriptor stdout_;
  Descriptor stderr_;
  Descriptor gate_;
  Descriptor status_;
  Descriptor pidfd_;
  Descriptor oom_event_;
  Descriptor input_;  // the request's own stdin_fd, when it has one
  boost::asio::steady_timer wall_timer_;
  boost::asio::steady_timer cpu_timer_;
  boost::asio::steady_timer memory_timer_;
  OutputLimiter stdout_limiter_;
  OutputLimiter stderr_limiter_;
  wire::FrameParser parser_;
  std::string run_frame_;
  std::vector<char> buffer_;  // for the read at hand; its bytes are taken before the next
  BoxReport report_;
  Clock::time_point handed_over_at_;
  bool delivered_ = false;
  bool dead_ = false;
};

}  // namespace glovebox

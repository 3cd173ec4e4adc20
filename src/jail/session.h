#pragma once

// The life of a running box beside its client: a loop that relays, watches the clocks and the
// client, and ends what has to end.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "egress/egress.h"
#include "executor/host_share.h"
#include "jail/box.h"
#include "jail/client_streams.h"
#include "jail/refusals.h"
#include "jail/relay.h"
#include "sandbox/parent/memory_meter.h"
#include "sandbox/plan/jail_plan.h"

namespace glovebox::jail {

struct SessionOptions {
  std::optional<double> timeout_seconds;
  std::optional<double> idle_seconds;
  std::uint64_t memory_bytes_max = 0;
  std::vector<std::string> tmpfs;  // whose content counts as memory where no cgroup counts it
  bool quiet = false;
  pid_t client = 0;
  RelayOptions relay;
};

class Session {
 public:
  Session(RunningBox box, SessionOptions options, std::shared_ptr<RefusalLog> refusals,
          const std::optional<sandbox::CgroupSlot>& cgroup, bool metered, egress::Proxy* proxy);

  // Until the program has ended and everything it wrote is written. Its exit code.
  Result<int> Run(int signal_fd);

 private:
  using Clock = std::chrono::steady_clock;

  Status Prepare();
  void Turn(int signal_fd);
  int WaitMs() const;
  void CheckClocks();
  void CheckMemory();
  void TakeSignal(int signal_fd);
  void TakeFromClient();
  void TakeOutput();
  void TakeError();
  void TakeEnd();
  ssize_t ReadEnd(sandbox::JailEnd& end) const;  // what `read` answers
  void TakeRefusals();
  void TakeConnections();
  void Flush();
  void Say(const std::string& sentence);
  // Asks the program to end, and ends it if it has not done so after a while.
  void Ask(int signal, const std::string& why);
  void Kill();
  bool finished() const;
  std::string EndText() const;
  int ExitCode();

  RunningBox box_;
  SessionOptions options_;
  std::shared_ptr<RefusalLog> refusals_;
  const std::optional<sandbox::CgroupSlot>& cgroup_;
  bool metered_;
  egress::Proxy* proxy_;  // null without a way out; not ours
  std::optional<sandbox::MemoryMeter> meter_;
  Relay relay_;
  OutStream client_out_{1, OutStream::Sharing::kShared};
  OutStream client_err_{2, OutStream::Sharing::kShared};
  OutStream server_in_;
  UniqueFd client_;  // a pidfd
  bool input_open_ = true;
  bool client_gone_ = false;
  std::optional<sandbox::JailEnd> end_;
  std::optional<int> verdict_;  // our exit code for it, when we ended the program
  std::string error_tail_;      // its last words
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_traffic_ = Clock::now();
  std::optional<Clock::time_point> undecided_since_;
  std::optional<Clock::time_point> kill_at_;
  std::optional<Clock::time_point> ask_at_;    // the client has gone silent: SIGTERM then
  std::optional<Clock::time_point> drain_by_;  // output of a dead program is waited for until then
};

}  // namespace glovebox::jail

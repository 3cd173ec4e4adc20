#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "base/unique_fd.h"
#include "egress/egress.h"
#include "event/event.h"
#include "executor/box_channels.h"
#include "executor/slot_table.h"
#include "sandbox/parent/call_watcher.h"
#include "sandbox/parent/memory_meter.h"
#include "sandbox/plan/child_plan.h"

namespace glovebox {

// What a box with a way out needs for it.
struct BoxEgress {
  UniqueFd listener_socket;  // over which its listeners come; not valid: it has no way out
  std::size_t listener_count = 0;
  std::function<Result<std::unique_ptr<egress::Proxy>>(std::vector<UniqueFd>)> start;
  std::string remedy;  // for events of programs that try another way
};

// One box from the moment it is asked for until nothing of it is left: born, locked, waiting at its
// gate, and used by at most one BoxRun. While it waits it costs memory and descriptors, but no
// timer and no look: the only thing awaited is its death.
//
// Thread rule: the thread of the io_context. Keeps itself alive until it is gone.
class Box : public std::enable_shared_from_this<Box> {
 public:
  using Descriptor = boost::asio::posix::stream_descriptor;

  struct Handlers {
    std::function<void()> ready;             // locked, waiting at the gate
    std::function<void(const Error&)> lost;  // instead of `ready`: it could not be built
    std::function<void()> gone;              // last: no process of it is left, its slot is free
  };

  // What of the executor's a box uses; all of it must outlive `gone`.
  struct Means {
    Slot* slot = nullptr;
    sandbox::CallWatcher* watcher = nullptr;  // null: the seccomp wall is down
    // Tier B: memory is measured by looking at the box, whose own tmpfs these are.
    const std::vector<std::string>* measured_tmpfs = nullptr;
    // What its program is told besides the environment that all boxes have.
    std::vector<std::pair<std::string, std::string>> environment;
    std::shared_ptr<void> ancestor;           // the zygote it is forked from, which must outlive it
    bool container = false;                   // an OCI runtime holds it: see overhead()
    bool own_kernel = false;                  // and its kernel is a program in that container
    std::chrono::seconds birth_time_max{10};  // a thousand times what a fork takes
    BoxEgress egress = {};
    bool rehearsed = true;  // it ran something before it waited, and so a request runs faster
  };

  // What a container's cgroup counts besides what its code uses, as far as it is known when the
  // container is ready; zero for a box forked from a zygote.
  struct Overhead {
    std::uint64_t memory_bytes = 0;
    std::uint32_t processes = 0;
  };

  Box(boost::asio::io_context& context, ServerEnds channels, Means means);

  Handlers handlers;  // to be set before Begin

  // It was asked for: from here on it has to be ready in time.
  void Begin();
  // Its init exists; or could not be made.
  void OnBorn(Result<UniqueFd> pidfd);
  // Ends it, whatever it does. A box that waits or is being born goes without a word to `lost`.
  void Kill();
  // The executor goes away: no handler is called any more, the slot is not touched again.
  void Abandon();

  const void* ancestor() const { return means_.ancestor.get(); }
  bool rehearsed() const { return means_.rehearsed; }

  // Locked, waiting, alive as far as is known.
  bool waiting() const { return ready_ && !taken_ && !unwanted_ && !dead_; }
  // It said itself why it could not be built.
  bool build_failed() const { return build_error_.has_value(); }
  // From here on a request is inside: `on_death` is called when init is dead, before `gone`.
  // Precondition: waiting().
  void Take(std::function<void()> on_death);

  // The channels and what else a request in this box works with. The pipes are plain descriptors:
  // while nobody awaits them, what the box writes wakes nobody.
  UniqueFd stdin_pipe;
  UniqueFd stdout_pipe;
  UniqueFd stderr_pipe;
  Descriptor gate;
  // Runs when there is something to read at the gate; then it is awaited again with AwaitAnswer().
  // The first wait begins long before the request, which need not pay for it.
  std::function<void()> on_answer;
  void AwaitAnswer();
  bool dead() const { return dead_; }
  Slot& slot() { return *means_.slot; }
  sandbox::CgroupSlot* cgroup();  // null: the cgroup wall is down, or tier B
  // No namespaces hold it: it has its slot's folder, and its processes are counted with ours.
  bool shares_host() const { return !means_.slot->folder.empty(); }
  const std::vector<std::pair<std::string, std::string>>& environment() const {
    return means_.environment;
  }
  bool in_container() const { return means_.container; }
  bool own_kernel() const { return means_.own_kernel; }
  const Overhead& overhead() const { return overhead_; }
  bool metered() const { return means_.measured_tmpfs != nullptr; }
  std::optional<sandbox::MemoryMeter>& meter() { return meter_; }  // there if metered()
  bool watched() const { return means_.watcher != nullptr; }
  const std::shared_ptr<sandbox::CallRecord>& calls() const { return calls_; }
  // Runs on the executor's thread at an event flood.
  std::function<void()> on_flood;
  // Connections that it asked for, ended with this; empty without a way out. `start` is when the
  // request was handed over.
  std::vector<Event> FinishEgress(std::chrono::steady_clock::time_point start);
  // What init said of Python's end; once dead.
  const std::optional<sandbox::StatusRecord>& ending() const { return ending_; }

 private:
  void AwaitReady();
  void ReadReady();
  void BecomeReady();
  Status StartEgress();
  void Lose(const Error& error);
  void WatchCalls(UniqueFd listener);
  void OnDeath();
  std::string EarlyDeath() const;
  void ReadStatus();
  void CloseAll();

  boost::asio::io_context& context_;
  Means means_;
  UniqueFd status_;
  Descriptor pidfd_;
  boost::asio::steady_timer birth_timer_;
  Overhead overhead_;
  std::string greeting_;  // what came through the gate before it was ready
  std::optional<sandbox::MemoryMeter> meter_;
  std::unique_ptr<egress::Proxy> proxy_;
  std::shared_ptr<sandbox::CallRecord> calls_;
  sandbox::CallWatcher::Number watched_ = 0;
  std::function<void()> on_death_;
  std::optional<Error> build_error_;
  std::optional<sandbox::StatusRecord> ending_;
  bool ready_ = false;
  bool taken_ = false;
  bool unwanted_ = false;  // killed by us before it was taken
  bool dead_ = false;
};

}  // namespace glovebox

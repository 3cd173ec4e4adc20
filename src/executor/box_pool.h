#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "executor/box.h"
#include "executor/box_kind.h"
#include "executor/box_source.h"
#include "executor/host_share.h"
#include "executor/slot_table.h"
#include "python/client/box_factory.h"
#include "python/client/zygote_client.h"
#include "sandbox/parent/call_watcher.h"

namespace glovebox {

// The boxes of one kind: a zygote that forks them, those that are being born, those that wait.
//
//   Want(n) --> births --> [waiting] --> Take() --> a BoxRun
//
// A birth that is wanted begins at once. Beyond that, Refill() brings the waiting boxes up to the
// kind's number, a few at a time; the owner calls it when there is nothing better to do. Zygotes
// are replaced between births: the next one is warm before the old one gets no more work, and the
// old one ends with its last box.
//
// Thread rule: as for every BoxSource.
class BoxPool final : public BoxSource {
 public:
  // What of the executor's a pool uses; all of it must outlive the pool.
  struct Means {
    boost::asio::io_context& context;
    SlotTable& slots;
    const HostShare& host;
    sandbox::CallWatcher* watcher;  // null: the seccomp wall is down
    std::string egress_program;     // where the kind has an egress
  };
  BoxPool(Means means, BoxKind kind, python::BoxFactory factory, ZygoteLife life,
          Handlers handlers);
  ~BoxPool() override;
  BoxPool(const BoxPool&) = delete;
  BoxPool& operator=(const BoxPool&) = delete;

  const std::string& name() const override { return kind_.name; }
  const std::vector<std::string>& missing() const override { return factory_.missing(); }
  Status Open() override;  // starts the zygote if there is none
  void Want(std::size_t count, const sandbox::CgroupLimits& limits) override;
  std::shared_ptr<Box> Take() override;
  // Without hurry, neither those of a replaced zygote count, unless it takes several to make as
  // many as wait, nor those that were made in a hurry.
  void Refill(std::size_t boxes, bool hurry) override;
  std::size_t warm_boxes() const override { return kind_.warm_boxes; }
  std::size_t waiting() const override { return waiting_.size(); }

 private:
  // Lives as long as it forks and as long as one of its boxes does.
  struct Zygote {
    ~Zygote() { python::ZygoteClient::Retire(std::move(client)); }
    std::unique_ptr<python::ZygoteClient> client;
    std::uint32_t forks = 0;
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  };

  Status StartZygote();
  void OnZygoteReady(const std::shared_ptr<Zygote>& zygote, Status ready);
  void OnZygoteDeath(const std::shared_ptr<Zygote>& zygote);
  bool TooOld(const Zygote& zygote) const;
  bool WornOut(const Zygote& zygote) const;
  bool MayFork() const;
  void BeginBirths();
  void BeginBirth(wire::Rehearsal rehearsal);
  Status TryBirth(wire::Rehearsal rehearsal);
  void OnReady(const std::shared_ptr<Box>& box);
  void OnLost(const Box& box, const Error& error);
  void OnGone(const std::shared_ptr<Box>& box, Slot* slot);
  void Fail(const Error& error, std::size_t requests);
  bool IsUpToDate(const Box& box) const;
  std::size_t UpToDate() const;
  BoxEgress EgressFor(const Slot& slot) const;
  void LetOneGo();

  Means means_;
  const BoxKind kind_;
  python::BoxFactory factory_;
  const ZygoteLife life_;
  Handlers handlers_;
  std::vector<std::string> tmpfs_;  // of every box, as it names them
  // Of boxes to be born: those of the last request, which the next one is likely to have.
  sandbox::CgroupLimits limits_ = GroupLimits(ExecutionLimits());
  std::shared_ptr<Zygote> current_;  // forks
  std::shared_ptr<Zygote> next_;     // is becoming warm, to be the current one
  std::vector<std::weak_ptr<Zygote>>
      zygotes_;                               // those, and the replaced ones that still have boxes
  std::deque<std::shared_ptr<Box>> waiting_;  // the oldest first
  std::size_t wanted_ = 0;                    // births for requests, not begun yet
  std::size_t births_ = 0;                    // begun, not ready
  bool failing_ = false;           // the last birth failed: nothing is tried until somebody asks
  std::size_t lost_in_a_row_ = 0;  // births without a reason of their own; none succeeded since
  std::set<std::shared_ptr<Box>> boxes_;                        // every box that is not gone
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that outlive us
};

}  // namespace glovebox

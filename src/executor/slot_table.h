#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "base/result.h"
#include "executor/host_share.h"
#include "sandbox/parent/cgroup.h"

namespace glovebox {

// A place on the host, used by one box at a time, then by the next.
using Slot = BoxPlace;

// Slots for boxes of every kind, made as they are needed and recycled.
class SlotTable {
 public:
  // At most `slots_max` at once, for boxes that take their time to die; those beyond the
  // first `slots_kept` go when they are given back. `host` must outlive the table.
  SlotTable(HostShare& host, std::size_t slots_kept, std::size_t slots_max)
      : host_(host), slots_kept_(slots_kept), slots_max_(slots_max) {}

  // A slot that nobody is in, with `limits` in force. The table's; give it back when no process of
  // its box is left. Precondition: not full().
  Result<Slot*> Take(const sandbox::CgroupLimits& limits);
  void Return(Slot* slot);

  bool full() const { return in_use() >= slots_max_; }
  std::size_t in_use() const { return slots_.size() - free_.size(); }

 private:
  std::uint32_t UnusedNumber() const;

  HostShare& host_;
  const std::size_t slots_kept_;
  const std::size_t slots_max_;
  std::map<std::uint32_t, std::unique_ptr<Slot>> slots_;  // by number
  std::deque<Slot*> free_;
};

}  // namespace glovebox

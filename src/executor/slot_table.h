#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sandbox/parent/cgroup.h"

namespace glovebox {

// What a box occupies on the host: one uid of our range and, when that wall stands, its cgroups.
// Used by one box at a time, then by the next.
struct Slot {
  std::uint32_t number;  // the uid, too: 0 is the zygote's
  std::optional<sandbox::CgroupSlot> cgroup;
  sandbox::CgroupLimits limits;  // those in force
};

// Slots for boxes of every kind, made as they are needed and recycled.
class SlotTable {
 public:
  // At most `slots_max`. `tree` may be null (no cgroups) and must outlive the table.
  SlotTable(const sandbox::CgroupTree* tree, std::size_t slots_max)
      : tree_(tree), slots_max_(slots_max) {}

  // A slot that nobody is in, with `limits` in force. The table's; give it back when no process of
  // its box is left. Precondition: not full().
  Result<Slot*> Take(const sandbox::CgroupLimits& limits);
  void Return(Slot* slot);

  bool full() const { return in_use() >= slots_max_; }
  std::size_t in_use() const { return slots_.size() - free_.size(); }

 private:
  const sandbox::CgroupTree* tree_;
  const std::size_t slots_max_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<Slot*> free_;
};

}  // namespace glovebox

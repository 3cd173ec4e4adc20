#include "executor/slot_table.h"

namespace glovebox {

Result<Slot*> SlotTable::Take(const sandbox::CgroupLimits& limits) {
  if (free_.empty()) {
    const auto number = static_cast<std::uint32_t>(slots_.size() + 1);
    auto slot = std::make_unique<Slot>(Slot{TRY(host_.MakePlace(number)), limits});
    free_.push_back(slot.get());
    slots_.push_back(std::move(slot));
  }
  // The one that has rested longest: its last box is the most thoroughly gone.
  Slot* slot = free_.front();
  if (slot->cgroup) TRY(slot->cgroup->Prepare(limits));
  TRY(host_.Refresh(*slot));
  slot->limits = limits;
  free_.pop_front();
  return slot;
}

void SlotTable::Return(Slot* slot) { free_.push_back(slot); }

}  // namespace glovebox

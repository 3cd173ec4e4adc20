#include "executor/slot_table.h"

namespace glovebox {

Result<Slot*> SlotTable::Take(const sandbox::CgroupLimits& limits) {
  if (free_.empty()) {
    const std::uint32_t number = UnusedNumber();
    auto slot = std::make_unique<Slot>(TRY(host_.MakePlace(number)));
    free_.push_back(slot.get());
    slots_.emplace(number, std::move(slot));
  }
  // The one that has rested longest: its last box is the most thoroughly gone.
  Slot* slot = free_.front();
  if (slot->cgroup) TRY(slot->cgroup->Prepare(limits));
  TRY(host_.Refresh(*slot));
  free_.pop_front();
  return slot;
}

void SlotTable::Return(Slot* slot) {
  if (slot->number > slots_kept_) {
    slots_.erase(slot->number);
  } else {
    free_.push_back(slot);
  }
}

std::uint32_t SlotTable::UnusedNumber() const {
  std::uint32_t number = 1;
  while (slots_.contains(number)) ++number;
  return number;
}

}  // namespace glovebox

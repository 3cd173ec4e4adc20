#include "executor/slot_table.h"

namespace glovebox {

Result<Slot*> SlotTable::Take(const sandbox::CgroupLimits& limits) {
  if (free_.empty()) {
    const auto number = static_cast<std::uint32_t>(slots_.size() + 1);
    auto slot = std::make_unique<Slot>(Slot{number, std::nullopt, limits});
    if (tree_ != nullptr) slot->cgroup.emplace(TRY(tree_->MakeSlot(number)));
    free_.push_back(slot.get());
    slots_.push_back(std::move(slot));
  }
  // The one that has rested longest: its last box is the most thoroughly gone.
  Slot* slot = free_.front();
  if (slot->cgroup) TRY(slot->cgroup->Prepare(limits));
  slot->limits = limits;
  free_.pop_front();
  return slot;
}

void SlotTable::Return(Slot* slot) { free_.push_back(slot); }

}  // namespace glovebox

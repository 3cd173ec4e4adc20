#pragma once

#include <cstdint>

namespace glovebox::zygote {

inline constexpr std::uintptr_t kHugePage = 2u << 20;

// The next boundary between huge pages, below and above.
constexpr std::uintptr_t HugePageDown(std::uintptr_t address) { return address & ~(kHugePage - 1); }
constexpr std::uintptr_t HugePageUp(std::uintptr_t address) {
  return HugePageDown(address + kHugePage - 1);
}

// What is mapped is reckoned with as numbers.
inline void* At(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace glovebox::zygote

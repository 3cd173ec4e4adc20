#pragma once

#include <cstdint>

namespace glovebox::sandbox {

// What a Landlock ABI version can enforce, as the masks of its system calls.
struct LandlockMasks {
  std::uint64_t fs = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
};

// The kernel's ABI version; 0 when it has no Landlock or it is switched off.
int LandlockAbi();

// Everything `abi` knows. Each claim a lower ABI cannot hold is named by MissingWithLandlockAbi().
LandlockMasks MasksForAbi(int abi);

}  // namespace glovebox::sandbox

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/plan/walls.h"

namespace glovebox::sandbox {

// A set of walls as bits, the way rows of the payload table write it.
using WallMask = std::uint32_t;

constexpr WallMask Bit(Wall wall) { return 1u << static_cast<unsigned>(wall); }

inline constexpr unsigned kWallCount = static_cast<unsigned>(Wall::kCount);

// "root+seccomp", for people.
inline std::string WallNames(WallMask mask) {
  constexpr std::array<std::string_view, kWallCount> kNames = {
      "identity", "root",    "pidns",  "netns",   "ipcns",
      "landlock", "seccomp", "cgroup", "rlimits", "interpreter"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((mask & (1u << i)) != 0) text += (text.empty() ? "" : "+") + std::string(kNames.at(i));
  }
  return text.empty() ? "none" : text;
}

// The only maker of WallSeam: takes walls down so that the audit's attribution, in its cage, and
// tests can say which one holds.
class WallSeamForAttribution {
 public:
  static constexpr Walls Only(WallMask mask) {
    const WallSeam seam;
    Walls walls = WallSeam::None(seam);
    for (unsigned i = 0; i < static_cast<unsigned>(Wall::kCount); ++i) {
      if ((mask & (1u << i)) != 0) walls = WallSeam::With(walls, static_cast<Wall>(i), seam);
    }
    return walls;
  }
  static constexpr Walls AllBut(WallMask mask) { return Only(Walls::All().bits() & ~mask); }
};

static_assert(WallSeamForAttribution::AllBut(0).bits() == Walls::All().bits());
static_assert(WallSeamForAttribution::Only(Bit(Wall::kRoot)).stands(Wall::kRoot));
static_assert(!WallSeamForAttribution::AllBut(Bit(Wall::kRoot)).stands(Wall::kRoot));

}  // namespace glovebox::sandbox

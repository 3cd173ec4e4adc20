#pragma once

#include <cstdint>

namespace glovebox::sandbox {

// The walls of a box that can be told apart (docs/threat-model.md, "The walls").
enum class Wall : std::uint8_t {
  kIdentity,      // throw-away uid in a user namespace of its own, no capabilities
  kRoot,          // pivot_root into a read-only root holding only the runtime
  kPidNamespace,  // own process ids; the death of its init kills everything in it
  kNetNamespace,  // a network without interfaces
  kIpcNamespace,  // own System V and POSIX queues, own host name
  kLandlock,      // file, TCP, signal and abstract-socket rules a second time
  kSeccomp,       // the system-call allow-list
  kCgroup,        // memory, processes, CPU; kill of everything in the group
  kRlimits,       // process, file-size, data and descriptor limits
  kInterpreter,   // the audit hook's refusals: friction, never a boundary
  kCount,
};

class WallSeam;

// Which walls stand. Every product path uses All(); the other constructors need a WallSeam, which
// only tests/isolation and the audit's attribution can make.
class Walls {
 public:
  static constexpr Walls All() { return Walls((1u << static_cast<unsigned>(Wall::kCount)) - 1); }

  constexpr bool stands(Wall wall) const {
    return (bits_ & (1u << static_cast<unsigned>(wall))) != 0;
  }
  constexpr std::uint32_t bits() const { return bits_; }

  // For a value that came from our own server over the zygote's socket.
  static constexpr Walls FromTrustedBits(std::uint32_t bits) { return Walls(bits); }

 private:
  friend class WallSeam;
  constexpr explicit Walls(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_;
};

// The token that takes walls down. Its constructor is private: a reviewer finds every user by
// grepping for the friend named here. No command line or environment leads to it.
class WallSeam {
 public:
  static constexpr Walls Without(Walls walls, Wall wall, const WallSeam&) {
    return Walls(walls.bits_ & ~(1u << static_cast<unsigned>(wall)));
  }
  static constexpr Walls With(Walls walls, Wall wall, const WallSeam&) {
    return Walls(walls.bits_ | (1u << static_cast<unsigned>(wall)));
  }
  static constexpr Walls None(const WallSeam&) { return Walls(0); }

 private:
  friend class WallSeamForAttribution;  // src/audit/wall_seam.h
  constexpr WallSeam() = default;
};

}  // namespace glovebox::sandbox

#pragma once

// Kernel interfaces newer than the oldest headers we build with, and the few helpers every step
// uses. Numbers are the same on x86-64 and aarch64 (all were added after the numbering was
// unified).

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace glovebox::sandbox {

inline constexpr long kSysOpenTree = 428;
inline constexpr long kSysMoveMount = 429;
inline constexpr long kSysFsopen = 430;
inline constexpr long kSysFsconfig = 431;
inline constexpr long kSysFsmount = 432;
inline constexpr long kSysCloseRange = 436;
inline constexpr long kSysOpenat2 = 437;
inline constexpr long kSysMountSetattr = 442;
inline constexpr long kSysLandlockCreateRuleset = 444;
inline constexpr long kSysLandlockAddRule = 445;
inline constexpr long kSysLandlockRestrictSelf = 446;

inline constexpr unsigned kOpenTreeClone = 1;
inline constexpr unsigned kOpenTreeCloexec = 02000000;
inline constexpr unsigned kAtRecursive = 0x8000;
inline constexpr unsigned kAtEmptyPath = 0x1000;
inline constexpr unsigned kCloseRangeCloexec = 4;
inline constexpr unsigned kMoveMountFromEmptyPath = 0x4;
inline constexpr unsigned kFsconfigSetString = 1;
inline constexpr unsigned kFsconfigCreate = 6;
inline constexpr std::uint64_t kMountAttrReadOnly = 0x1;
inline constexpr std::uint64_t kMountAttrNosuid = 0x2;
inline constexpr std::uint64_t kMountAttrNodev = 0x4;
inline constexpr std::uint64_t kMountAttrNoexec = 0x8;

struct MountAttr {
  std::uint64_t set;
  std::uint64_t clear;
  std::uint64_t propagation;
  std::uint64_t userns_fd;
};

struct OpenHow {
  std::uint64_t flags;
  std::uint64_t mode;
  std::uint64_t resolve;
};
inline constexpr std::uint64_t kResolveNoSymlinks = 0x4;

// 0, or the errno value, of a call that answers -1 on failure.
inline int ErrnoOf(long result) noexcept { return result < 0 ? errno : 0; }

}  // namespace glovebox::sandbox

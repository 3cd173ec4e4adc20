#include "sandbox/compile/landlock_abi.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace glovebox::sandbox {
namespace {

// As in landlock_rules.cc: the kernel's interface, written out.
constexpr std::uint64_t kAbi1Last = 1ull << 12;
constexpr std::uint64_t kRefer = 1ull << 13;        // ABI 2
constexpr std::uint64_t kTruncate = 1ull << 14;     // ABI 3
constexpr std::uint64_t kIoctlDevice = 1ull << 15;  // ABI 5
constexpr std::uint64_t kResolveUnix = 1ull << 16;  // ABI 9
constexpr std::uint64_t kBindTcp = 1ull << 0;       // ABI 4
constexpr std::uint64_t kConnectTcp = 1ull << 1;
constexpr std::uint64_t kScopeAbstractUnix = 1ull << 0;  // ABI 6
constexpr std::uint64_t kScopeSignal = 1ull << 1;

}  // namespace

int LandlockAbi() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kVersionFlag = 1;
  const long abi = syscall(kCreateRuleset, nullptr, 0, kVersionFlag);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

LandlockMasks MasksForAbi(int abi) {
  LandlockMasks masks;
  if (abi >= 1) masks.fs = (kAbi1Last << 1) - 1;
  if (abi >= 2) masks.fs |= kRefer;
  if (abi >= 3) masks.fs |= kTruncate;
  if (abi >= 4) masks.net = kBindTcp | kConnectTcp;
  if (abi >= 5) masks.fs |= kIoctlDevice;
  if (abi >= 6) masks.scoped = kScopeAbstractUnix | kScopeSignal;
  if (abi >= 9) masks.fs |= kResolveUnix;
  return masks;
}

}  // namespace glovebox::sandbox

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::sandbox {

// Where the servers of this host meet: the lock of the ranges, and notes of what to sweep.
inline constexpr char kLockFolder[] = "/run/glovebox";
inline constexpr uid_t kUidRangesBase = 2'000'000'000;  // beyond subuid ranges and nspawn's
inline constexpr std::uint32_t kUidsPerRange = 65'536;
inline constexpr std::uint32_t kUidRangeCount = 1'024;

// A range of host uids that is ours alone while this object lives: several servers may run on one
// host. Held by a byte lock in `lock_folder`/uid-ranges; the kernel releases it when we die,
// however.
class UidRange {
 public:
  // Takes the first free range. kLimit when all are taken; kSystem when the lock file cannot be
  // used.
  static Result<UidRange> Take(const std::string& lock_folder);

  // Takes this very range if nobody holds it: kLimit when somebody does.
  static Result<UidRange> TakeIndex(const std::string& lock_folder, std::uint32_t index);

  std::uint32_t index() const { return index_; }
  uid_t base() const { return kUidRangesBase + index_ * kUidsPerRange; }

 private:
  UidRange(UniqueFd lock, std::uint32_t index) : lock_(std::move(lock)), index_(index) {}
  UniqueFd lock_;
  std::uint32_t index_;
};

// Whether the ranges exist in our user namespace: not for the root of a rootless container, who is
// a normal user in all but name.
bool UidRangesAreMapped();

// The same for the texts of /proc/self/uid_map and gid_map.
bool MapsHoldRanges(std::string_view uid_map, std::string_view gid_map);

// Kills whatever still runs under a uid of `range`: leftovers of a server that was killed before
// us. Bounded; a process that cannot be killed is an error naming its pid.
Status KillLeftovers(const UidRange& range);

}  // namespace glovebox::sandbox

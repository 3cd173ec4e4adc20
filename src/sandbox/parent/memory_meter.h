#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::sandbox {

// What a box uses, summed from outside, for hosts where no cgroup counts it: the memory of its
// processes (a page shared by several counts once in all) and what lies in its own tmpfs. Sampled,
// so a burst between two looks is seen late.
class MemoryMeter {
 public:
  // `init_pidfd` is the box's init; the box must be built (its tmpfs mounted). `tmpfs` are the
  // folders of its own, as it names them; `insider_pidfd` is a process of the box through which
  // they can be looked at, where init cannot.
  static Result<MemoryMeter> Open(int init_pidfd, const std::vector<std::string>& tmpfs,
                                  int insider_pidfd = -1);

  // The same for a box without mounts of its own, which writes into `folder` of the host's. More in
  // there than can be looked through counts as too much.
  static Result<MemoryMeter> OpenShared(int init_pidfd, const std::string& folder);

  // Bytes in use now. Exact accounting costs a walk through the page tables, so while an upper
  // bound that is cheap to know stays below `threshold` it is the answer.
  std::uint64_t Measure(std::uint64_t threshold);

  // The largest answer so far.
  std::uint64_t peak() const { return peak_; }
  // How many processes the last look saw, init included.
  std::size_t processes() const { return processes_; }

 private:
  explicit MemoryMeter(pid_t init) : init_(init) {}
  std::uint64_t FileBytes(const std::vector<pid_t>& processes) const;

  pid_t init_;  // as the host numbers it
  std::vector<UniqueFd> tmpfs_;
  UniqueFd folder_;
  std::size_t processes_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace glovebox::sandbox

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
  // folders of its own, as it names them.
  static Result<MemoryMeter> Open(int init_pidfd, const std::vector<std::string>& tmpfs);

  // Bytes in use now. Exact accounting costs a walk through the page tables, so while an upper
  // bound that is cheap to know stays below `threshold` it is the answer.
  std::uint64_t Measure(std::uint64_t threshold);

  // The largest answer so far.
  std::uint64_t peak() const { return peak_; }

 private:
  explicit MemoryMeter(pid_t init) : init_(init) {}

  pid_t init_;  // as the host numbers it
  std::vector<UniqueFd> tmpfs_;
  std::uint64_t peak_ = 0;
};

}  // namespace glovebox::sandbox

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/parent/cgroup.h"
#include "sandbox/parent/leftovers.h"
#include "sandbox/parent/uid_range.h"

namespace glovebox::sandbox {

// Where this server's boxes have their cgroups, if there is such a place: below the parent that the
// operator names; as root, the host's own tree; as a normal user, our own group where it was
// delegated to us (systemd's Delegate=, v2). Given back by the destructor; what a killed server
// left there is swept by the next.
class CgroupHome {
 public:
  // No value: nothing here is ours to use, and limits are held by looking (tier B). A `parent` that
  // is named and cannot be used is an error. `range`: ours as root, null for a normal user.
  // `disks`: only a place that can limit what goes to and from them will do.
  static Result<std::optional<CgroupHome>> Find(const std::string& parent, const UidRange* range,
                                                bool disks = false);

  const CgroupTree& tree() const { return *tree_; }

  CgroupHome(CgroupHome&& other) noexcept;
  CgroupHome& operator=(CgroupHome&&) = delete;
  ~CgroupHome();

 private:
  CgroupHome() = default;
  static Result<CgroupHome> Settle(const CgroupLayout& layout, const UidRange* range);
  Status LeaveFor(const std::string& leaf);

  std::optional<HostNote> note_;  // root's: goes last
  std::string left_;              // the delegated group that we moved out of, and its leaf
  std::string leaf_;
  std::vector<UniqueFd> locks_;  // a normal user's: who can lock a branch may remove it
  std::optional<CgroupTree> tree_;
};

}  // namespace glovebox::sandbox

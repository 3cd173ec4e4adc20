#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/parent/box_folders.h"
#include "sandbox/parent/cgroup_home.h"
#include "sandbox/parent/uid_range.h"
#include "sandbox/plan/host_mode.h"
#include "sandbox/plan/walls.h"

namespace glovebox {

struct HostShareOptions {
  sandbox::Walls walls = sandbox::Walls::All();
  bool allow_degraded = false;
  std::string cgroup_parent;  // empty: where the host lets us
  bool disks = false;         // cgroups that can hold CgroupLimits::io_bytes_per_second_max, too
};

// What one box occupies on the host. Used by one box at a time, then by the next.
struct BoxPlace {
  std::uint32_t number = 0;  // from 1 on
  std::optional<sandbox::CgroupSlot> cgroup;
  std::string folder;  // where it has no mounts of its own: what it may write
};

// What an executor takes of the host before its first box: how boxes are held, the uids they get,
// cgroups, folders. Given back by the destructor, when every box is dead.
class HostShare {
 public:
  // Decides how boxes can be held here and takes what that needs. Sweeps what killed predecessors
  // left. kUnsupported, with what is missing and the fix, where that is weaker than promised and
  // `allow_degraded` is not set. Where boxes have our own uid, nobody may look into this process
  // any more (PR_SET_DUMPABLE).
  static Result<HostShare> Take(const HostShareOptions& options);

  const sandbox::HostMode& mode() const { return mode_; }
  // Those of the options that can stand here.
  sandbox::Walls walls() const { return walls_; }
  // For people, for every result: what boxes lack here.
  const std::vector<std::string>& missing() const { return missing_; }
  const std::optional<sandbox::UidRange>& uids() const { return uids_; }
  bool has_cgroups() const { return cgroups_.has_value(); }
  // SpawnRequest::cgroup_file of zygotes.
  std::string zygote_cgroup_file() const { return cgroups_ ? cgroups_->tree().zygote_file() : ""; }
  // Memory is held by looking: the limit is to hold, and no cgroup holds it.
  bool metered() const { return walls_.stands(sandbox::Wall::kCgroup) && !cgroups_; }

  Result<BoxPlace> MakePlace(std::uint32_t number);
  // Makes the place's folder new, for the next box. Precondition: the last one is dead.
  Status Refresh(BoxPlace& place);

  // The uid of the box in `place`, in the zygote's user namespace; 0 where it keeps the zygote's.
  std::uint32_t BoxUid(const BoxPlace& place) const;
  // The first of two host uids of the egress proxy of the box with that number; 0 where uids are
  // not ours to give.
  uid_t ProxyUid(std::uint32_t number) const;
  // The one CPU it may use; -1 where a cgroup bounds its CPU time.
  std::int32_t BoxCpu(const BoxPlace& place) const;
  // What the box in `place` is told besides the environment that all boxes have.
  std::vector<std::pair<std::string, std::string>> Environment(const BoxPlace& place) const;

 private:
  HostShare() = default;

  sandbox::HostMode mode_;
  sandbox::Walls walls_ = sandbox::Walls::All();
  std::vector<std::string> missing_;
  std::vector<std::int32_t> cpus_;  // that this process may use
  // In the order in which they are taken; given back the other way round.
  std::optional<sandbox::UidRange> uids_;
  std::optional<sandbox::CgroupHome> cgroups_;
  std::optional<sandbox::BoxFolders> folders_;
};

}  // namespace glovebox

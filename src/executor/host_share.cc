#include "executor/host_share.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/parent/host_decision.h"
#include "sandbox/parent/leftovers.h"

namespace glovebox {

using sandbox::IdentitySource;
using sandbox::Wall;

namespace {

std::vector<std::int32_t> UsableCpus() {
  cpu_set_t set;
  std::vector<std::int32_t> cpus;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<std::int32_t>(cpu));
  }
  return cpus;
}

}  // namespace

Result<HostShare> HostShare::Take(const HostShareOptions& options) {
  HostShare share;
  // The root of a rootless container has one uid to give, as a normal user has.
  if (::geteuid() == 0 && sandbox::UidRangesAreMapped()) {
    share.uids_.emplace(TRY(sandbox::UidRange::Take(sandbox::kLockFolder)));
    TRY(sandbox::SweepDeadServers(sandbox::kLockFolder, *share.uids_));
  }
  const sandbox::UidRange* range = share.uids_ ? &*share.uids_ : nullptr;
  const sandbox::HostDecision decision = sandbox::DecideHostMode(range);
  TRY(sandbox::RequireStrength(decision, options.allow_degraded));
  share.mode_ = decision.mode;
  share.cpus_ = UsableCpus();
  share.walls_ = sandbox::Walls::FromTrustedBits(options.walls.bits() &
                                                 sandbox::WallsIn(decision.mode).bits());
  for (const sandbox::MissingWall& missing : sandbox::MissingWalls(decision.mode)) {
    share.missing_.emplace_back(missing.what);
  }
  if (options.walls.stands(Wall::kCgroup)) {
    auto found = TRY(sandbox::CgroupHome::Find(options.cgroup_parent, range, options.disks));
    if (found) share.cgroups_.emplace(std::move(*found));
  }
  if (!decision.mode.namespaces) {
    share.folders_.emplace(TRY(sandbox::BoxFolders::Create()));
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
      return Error::FromErrno("keeping others from looking into this process", errno);
    }
  }
  return share;
}

Result<BoxPlace> HostShare::MakePlace(std::uint32_t number) {
  BoxPlace place{number, std::nullopt, {}};
  if (cgroups_) place.cgroup.emplace(TRY(cgroups_->tree().MakeSlot(number)));
  return place;
}

Status HostShare::Refresh(BoxPlace& place) {
  if (!folders_) return {};
  place.folder = TRY(folders_->Make(
      place.number, mode_.identity == IdentitySource::kHostRange ? BoxUid(place) : ::geteuid()));
  return {};
}

std::uint32_t HostShare::BoxUid(const BoxPlace& place) const {
  switch (mode_.identity) {
    case IdentitySource::kMappedRange: return place.number;
    case IdentitySource::kHostRange: return uids_->base() + place.number;
    case IdentitySource::kMappedSelf:
    case IdentitySource::kSelf: break;
  }
  return 0;
}

uid_t HostShare::ProxyUid(std::uint32_t number) const {
  constexpr uid_t kFirst = sandbox::kUidsPerRange / 2;  // far above every box's
  return uids_ ? uids_->base() + kFirst + 2 * number : 0;
}

std::int32_t HostShare::BoxCpu(const BoxPlace& place) const {
  if (!metered() || cpus_.empty()) return -1;
  return cpus_[place.number % cpus_.size()];
}

std::vector<std::pair<std::string, std::string>> HostShare::Environment(
    const BoxPlace& place) const {
  if (place.folder.empty()) return {};
  return {{"HOME", place.folder + "/work"},
          {"TMPDIR", place.folder + "/tmp"},
          {"MPLCONFIGDIR", place.folder + "/tmp"}};
}

}  // namespace glovebox

#include "sandbox/parent/cgroup_home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr char kBranchPrefix[] = "glovebox-";
constexpr char kLeafPrefix[] = "glovebox-server-";

UniqueFd OpenFolder(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A normal user's servers have no lock folder of the host's: each locks its own branches, and a
// branch that nobody has locked is a dead server's.
void SweepUnlocked(const CgroupLayout& layout) {
  std::set<std::string> parents;
  for (const ControllerPlace& place : layout.places) parents.insert(place.directory);
  for (const std::string& parent : parents) {
    std::error_code error;
    std::vector<std::string> dead;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(kBranchPrefix) || name.starts_with(kLeafPrefix)) continue;
      const UniqueFd folder = OpenFolder(entry.path().string());
      if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
        dead.push_back(entry.path().string());
      }
    }
    SweepBranches(dead);
  }
}

Status AddDisks(CgroupLayout& layout) {
  if (!layout.disks) {
    return Error(Errc::kUnsupported,
                 "no cgroup controller for disks is ours here: 'io' (v2) or 'blkio' (v1) must be "
                 "mounted, and given to us with memory and pids (systemd: Delegate=yes)");
  }
  layout.places.push_back(*layout.disks);
  return {};
}

}  // namespace

CgroupHome::CgroupHome(CgroupHome&& other) noexcept
    : note_(std::move(other.note_)),
      left_(std::exchange(other.left_, {})),
      leaf_(std::exchange(other.leaf_, {})),
      locks_(std::move(other.locks_)),
      tree_(std::move(other.tree_)) {
  other.tree_.reset();
  other.note_.reset();
}

CgroupHome::~CgroupHome() {
  tree_.reset();
  if (leaf_.empty()) return;
  // Back to where we came from, so that the group can be somebody else's again. On failure it goes
  // with us: systemd removes the groups of what has ended.
  static_cast<void>(WriteExisting(left_ + "/cgroup.subtree_control", "-memory -pids -cpu"));
  if (WriteExisting(left_ + "/cgroup.procs", "0")) ::rmdir(leaf_.c_str());
}

// A group that has controllers for its children may hold no process: we go into a leaf of it.
Status CgroupHome::LeaveFor(const std::string& leaf) {
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return Error::FromErrno("making cgroup " + leaf, errno);
  }
  leaf_ = leaf;
  return WriteExisting(leaf + "/cgroup.procs", "0");
}

Result<CgroupHome> CgroupHome::Settle(const CgroupLayout& layout, const UidRange* range) {
  CgroupHome home;
  const std::string own = layout.own_v2_group;
  if (!own.empty()) {
    home.left_ = own;
    TRY(home.LeaveFor(own + "/" + kLeafPrefix + std::to_string(::getpid())));
  }
  if (range != nullptr) {
    home.note_.emplace(
        TRY(HostNote::Write(kLockFolder, *range, CgroupTree::BranchesOf(layout, range->index()))));
    home.tree_.emplace(TRY(CgroupTree::Create(layout, range->index(), range->base())));
    return home;
  }
  SweepUnlocked(layout);
  const auto index = static_cast<std::uint32_t>(::getpid());
  home.tree_.emplace(TRY(CgroupTree::Create(layout, index)));
  for (const std::string& branch : CgroupTree::BranchesOf(layout, index)) {
    home.locks_.push_back(OpenFolder(branch));
    if (!home.locks_.back() || ::flock(home.locks_.back().get(), LOCK_EX | LOCK_NB) != 0) {
      return Error::FromErrno("locking " + branch, errno);
    }
  }
  return home;
}

Result<std::optional<CgroupHome>> CgroupHome::Find(const std::string& parent, const UidRange* range,
                                                   bool disks) {
  if (!parent.empty()) {
    CgroupLayout layout = TRY(CgroupLayoutBelow(parent));
    if (disks) TRY(AddDisks(layout));
    auto settled = Settle(layout, range);
    if (!settled) {
      return std::move(settled).error().Within("--cgroup-parent " + parent);
    }
    return std::optional<CgroupHome>(std::move(*settled));
  }
  // Neither is promised to anybody: without them the limits are held by looking, and results say
  // so. A service's root may write the group that it was given, and perhaps not the tree above it.
  std::vector<CgroupLayout> layouts;
  if (range != nullptr) layouts.push_back(DetectCgroupLayout());
  layouts.push_back(DelegatedCgroupLayout());
  for (CgroupLayout& layout : layouts) {
    if (layout.Find("memory") == nullptr || layout.Find("pids") == nullptr) continue;
    if (disks) TRY(AddDisks(layout));
    auto settled = Settle(layout, range);
    if (settled) return std::optional<CgroupHome>(std::move(*settled));
  }
  return std::optional<CgroupHome>();
}

}  // namespace glovebox::sandbox

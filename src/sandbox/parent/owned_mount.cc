#include "sandbox/parent/owned_mount.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "base/file.h"
#include "sandbox/child/syscalls.h"
#include "sandbox/parent/spawn.h"

namespace glovebox::sandbox {
namespace {

constexpr std::uint64_t kMountAttrIdmap = 0x00100000;

// "inside outside count" lines: `owner` on disk is `uid` here, everybody else is who they are.
std::string MapText(unsigned owner, unsigned uid) {
  std::string text;
  const auto line = [&](unsigned from, unsigned to, unsigned count) {
    if (count == 0) return;
    text += std::to_string(from) + " " + std::to_string(to) + " " + std::to_string(count) + "\n";
  };
  line(0, 0, owner);
  line(owner, uid, 1);
  line(owner + 1, owner + 1, uid - owner - 1);
  return text;
}

void Pause(const void*) {
  while (true) syscall(SYS_pause);
}

// A user namespace that says nothing but the two maps.
Result<UniqueFd> MapNamespace(uid_t owner, gid_t group, uid_t uid) {
  const Process holder = TRY(CloneChild(CLONE_NEWUSER, -1, &Pause, nullptr));
  const std::string folder = "/proc/" + std::to_string(holder.pid());
  TRY(WriteExisting(folder + "/uid_map", MapText(owner, uid)));
  TRY(WriteExisting(folder + "/gid_map", MapText(group, uid)));
  UniqueFd fd(::open((folder + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::FromErrno("opening " + folder + "/ns/user", errno);
  return fd;
}

}  // namespace

Result<UniqueFd> CloneTreeFor(const std::string& path, uid_t uid) {
  const OpenHow how = {O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, kResolveNoSymlinks};
  const UniqueFd at(
      static_cast<int>(syscall(kSysOpenat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
  if (!at) return Error::FromErrno("opening " + path, errno);
  struct stat info = {};
  if (::fstat(at.get(), &info) != 0) return Error::FromErrno("looking at " + path, errno);
  UniqueFd tree(
      static_cast<int>(syscall(kSysOpenTree, at.get(), "",
                               kOpenTreeClone | kOpenTreeCloexec | kAtRecursive | kAtEmptyPath)));
  if (!tree) return Error::FromErrno("cloning the mounts at " + path, errno);
  if (info.st_uid >= uid || info.st_gid >= uid) return tree;  // beyond what a map can hold
  const UniqueFd map = TRY(MapNamespace(info.st_uid, info.st_gid, uid));
  const MountAttr attributes = {kMountAttrIdmap, 0, 0, static_cast<std::uint64_t>(map.get())};
  // EINVAL: a file system in there cannot, and stays as it is.
  if (syscall(kSysMountSetattr, tree.get(), "", kAtEmptyPath | kAtRecursive, &attributes,
              sizeof(attributes)) != 0 &&
      errno != EINVAL && errno != EPERM && errno != EOPNOTSUPP) {
    return Error::FromErrno("mapping the owner of " + path, errno);
  }
  return tree;
}

}  // namespace glovebox::sandbox

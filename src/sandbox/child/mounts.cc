#include "sandbox/child/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

// Any directory that every host has serves to attach the new root to before the pivot; the mount
// covers it in this namespace only, and all sources are open by then.
constexpr char kAttachPoint[] = "/usr";

AFTER_FORK int SetAttributes(int mount_fd, std::uint64_t set, unsigned flags) noexcept {
  MountAttr attr = {set, 0, 0, 0};
  return ErrnoOf(
      syscall(kSysMountSetattr, mount_fd, "", kAtEmptyPath | flags, &attr, sizeof(attr)));
}

// Creates and mounts a file system without ever naming its mount point twice. Returns the mount's
// descriptor, or -1 with errno set. `options` alternates keys and values and ends with nullptr.
AFTER_FORK int NewMount(const char* type, const char* const* options,
                        std::uint64_t attributes) noexcept {
  const long context = syscall(kSysFsopen, type, 1 /* FSOPEN_CLOEXEC */);
  if (context < 0) return -1;
  for (; options[0] != nullptr; options += 2) {
    if (syscall(kSysFsconfig, context, kFsconfigSetString, options[0], options[1], 0) < 0) {
      return -1;
    }
  }
  if (syscall(kSysFsconfig, context, kFsconfigCreate, nullptr, nullptr, 0) < 0) return -1;
  const long mount_fd =
      syscall(kSysFsmount, context, 1 /* FSMOUNT_CLOEXEC */, static_cast<unsigned>(attributes));
  const int mount_errno = errno;
  syscall(SYS_close, context);
  errno = mount_errno;
  return static_cast<int>(mount_fd);
}

AFTER_FORK int Attach(int mount_fd, int target_dir_fd, const char* target) noexcept {
  return ErrnoOf(
      syscall(kSysMoveMount, mount_fd, "", target_dir_fd, target, kMoveMountFromEmptyPath));
}

AFTER_FORK int WriteFile(int root_fd, const RootEntry& entry) noexcept {
  const long fd =
      syscall(SYS_openat, root_fd, entry.target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (fd < 0) return errno;
  const long written = syscall(SYS_write, fd, entry.text, entry.text_length);
  const int error = written < 0 ? errno : (written == entry.text_length ? 0 : EIO);
  syscall(SYS_close, fd);
  return error;
}

// A read-only mount protects a device's node (its times and mode), not the device: data still goes
// in and out.
AFTER_FORK std::uint64_t AttributesOf(RootEntryKind kind) noexcept {
  switch (kind) {
    case RootEntryKind::kDevice: return kMountAttrNosuid | kMountAttrReadOnly | kMountAttrNoexec;
    case RootEntryKind::kWritableBind:
    case RootEntryKind::kWritableGrant:
    case RootEntryKind::kHostProc: return kMountAttrNosuid | kMountAttrNodev | kMountAttrNoexec;
    default: return kMountAttrNosuid | kMountAttrReadOnly | kMountAttrNodev;
  }
}

AFTER_FORK int PlaceSource(int root_fd, const RootEntry& entry, int source_fd) noexcept {
  struct stat source;
  if (syscall(SYS_newfstatat, source_fd, "", &source, kAtEmptyPath) < 0) return errno;
  if (S_ISDIR(source.st_mode)) {
    if (syscall(SYS_mkdirat, root_fd, entry.target, 0755) < 0 && errno != EEXIST) return errno;
  } else if (struct stat there; syscall(SYS_newfstatat, root_fd, entry.target, &there, 0) < 0) {
    const long fd =
        syscall(SYS_openat, root_fd, entry.target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0) return errno;
    syscall(SYS_close, fd);
  }
  if (const int error = SetAttributes(source_fd, AttributesOf(entry.kind), kAtRecursive);
      error != 0)
    return error;
  return Attach(source_fd, root_fd, entry.target);
}

AFTER_FORK int MountProcAt(int dir_fd, const char* target) noexcept {
  const char* const options[] = {"hidepid", "2", "subset", "pid", nullptr};
  const int mount_fd =
      NewMount("proc", options, kMountAttrNosuid | kMountAttrNodev | kMountAttrNoexec);
  if (mount_fd < 0) return errno;
  const int error = Attach(mount_fd, dir_fd, target);
  syscall(SYS_close, mount_fd);
  return error;
}

// A tmpfs of the box's own for programs too: caches of package managers hold what they run.
AFTER_FORK int PlaceTmpfs(int root_fd, const RootEntry& entry, const char* owner) noexcept {
  if (syscall(SYS_mkdirat, root_fd, entry.target, 0755) < 0 && errno != EEXIST) return errno;
  const char* const options[] = {"size", entry.text, "nr_inodes", "131072", "mode", "0700",
                                 "uid",  owner,      "gid",       owner,    nullptr};
  const int mount_fd = NewMount("tmpfs", options, kMountAttrNosuid | kMountAttrNodev);
  if (mount_fd < 0) return errno;
  const int error = Attach(mount_fd, root_fd, entry.target);
  syscall(SYS_close, mount_fd);
  return error;
}

// Covers what is at the target, which must be there, with a folder or file without any right.
AFTER_FORK int PlaceNothing(int root_fd, const RootEntry& entry) noexcept {
  const bool folder = entry.kind == RootEntryKind::kNoFolder;
  const char* const options[] = {"size", "4096", "nr_inodes", "2", "mode", "0000", nullptr};
  int mount_fd = NewMount("tmpfs", options, kMountAttrNosuid | kMountAttrNodev | kMountAttrNoexec);
  if (mount_fd < 0) return errno;
  if (!folder) {
    constexpr char kName[] = "refused";
    const long file =
        syscall(SYS_openat, mount_fd, kName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (file < 0) return errno;
    syscall(SYS_close, file);
    const long clone = syscall(kSysOpenTree, mount_fd, kName, kOpenTreeClone | kOpenTreeCloexec);
    if (clone < 0) return errno;
    syscall(SYS_close, mount_fd);
    mount_fd = static_cast<int>(clone);
  }
  int error = SetAttributes(mount_fd, kMountAttrReadOnly | kMountAttrNosuid | kMountAttrNodev, 0);
  if (error == 0) error = Attach(mount_fd, root_fd, entry.target);
  syscall(SYS_close, mount_fd);
  return error;
}

AFTER_FORK int PlaceEntry(int root_fd, const RootEntry& entry, int source_fd,
                          const char* tmpfs_owner) noexcept {
  switch (entry.kind) {
    case RootEntryKind::kDirectory:
      if (syscall(SYS_mkdirat, root_fd, entry.target, 0755) < 0 && errno != EEXIST) return errno;
      return 0;
    case RootEntryKind::kFile: return WriteFile(root_fd, entry);
    case RootEntryKind::kSymlink:
      return ErrnoOf(syscall(SYS_symlinkat, entry.text, root_fd, entry.target));
    case RootEntryKind::kBind:
    case RootEntryKind::kWritableBind:
    case RootEntryKind::kGrant:
    case RootEntryKind::kWritableGrant:
    case RootEntryKind::kDevice:
    case RootEntryKind::kHostProc: return PlaceSource(root_fd, entry, source_fd);
    case RootEntryKind::kTmpfs: return PlaceTmpfs(root_fd, entry, tmpfs_owner);
    case RootEntryKind::kNoFolder:
    case RootEntryKind::kNoFile: return PlaceNothing(root_fd, entry);
    case RootEntryKind::kProc:
      if (syscall(SYS_mkdirat, root_fd, entry.target, 0555) < 0) return errno;
      return MountProcAt(root_fd, entry.target);
  }
  return EINVAL;
}

AFTER_FORK int PivotInto(int root_fd) noexcept {
  if (syscall(SYS_fchdir, root_fd) < 0) return errno;
  // Both names are ".": the old root ends up stacked on the new one and is detached at once.
  if (syscall(SYS_pivot_root, ".", ".") < 0) return errno;
  if (syscall(SYS_umount2, ".", MNT_DETACH) < 0) return errno;
  return ErrnoOf(syscall(SYS_chdir, "/"));
}

AFTER_FORK bool HasSource(RootEntryKind kind) noexcept {
  return kind == RootEntryKind::kBind || kind == RootEntryKind::kWritableBind ||
         kind == RootEntryKind::kGrant || kind == RootEntryKind::kWritableGrant ||
         kind == RootEntryKind::kDevice || kind == RootEntryKind::kHostProc;
}

// In every box, and so in the one call that does all of it.
AFTER_FORK int MountFresh(const char* type, const char* target, const char* options) noexcept {
  return ErrnoOf(
      syscall(SYS_mount, "none", target, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, options));
}

// The tree at a path that was found to hold no link, and must not hold one now.
AFTER_FORK long OpenGrant(const char* path) noexcept {
  const OpenHow how = {O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, kResolveNoSymlinks};
  const long path_fd = syscall(kSysOpenat2, AT_FDCWD, path, &how, sizeof(how));
  if (path_fd < 0) return path_fd;
  const long fd = syscall(kSysOpenTree, path_fd, "",
                          kOpenTreeClone | kOpenTreeCloexec | kAtRecursive | kAtEmptyPath);
  const int error = errno;
  syscall(SYS_close, path_fd);
  errno = error;
  return fd;
}

}  // namespace

AFTER_FORK int MakeMountsPrivate() noexcept {
  return ErrnoOf(syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

AFTER_FORK int OpenRootSources(const RootPlan& root, std::uint16_t* detail) noexcept {
  for (std::uint16_t i = 0; i < root.entry_count; ++i) {
    const RootEntry& entry = root.entries[i];
    root.source_fds[i] = entry.prepared_fd;
    if (!HasSource(entry.kind) || entry.prepared_fd >= 0) continue;
    const bool granted =
        entry.kind == RootEntryKind::kGrant || entry.kind == RootEntryKind::kWritableGrant;
    const long fd = granted ? OpenGrant(entry.text)
                            : syscall(kSysOpenTree, AT_FDCWD, entry.text,
                                      kOpenTreeClone | kOpenTreeCloexec | kAtRecursive);
    if (fd < 0) {
      *detail = i;
      return errno;
    }
    root.source_fds[i] = static_cast<int>(fd);
  }
  return 0;
}

AFTER_FORK ChildFailure BuildAndPivotRoot(const RootPlan& root) noexcept {
  const auto fail = [](ChildStage stage, int error, std::uint16_t detail = 0) {
    return ChildFailure{stage, 0, detail, error};
  };
  const char* const options[] = {"size", "4194304", "nr_inodes", "4096", "mode", "0755", nullptr};
  const int root_fd = NewMount("tmpfs", options, kMountAttrNosuid | kMountAttrNodev);
  if (root_fd < 0) return fail(ChildStage::kRootMount, errno);
  if (const int error = Attach(root_fd, AT_FDCWD, kAttachPoint); error != 0) {
    return fail(ChildStage::kRootMount, error);
  }
  for (std::uint16_t i = 0; i < root.entry_count; ++i) {
    if (const int error =
            PlaceEntry(root_fd, root.entries[i], root.source_fds[i], root.tmpfs_owner);
        error != 0) {
      return fail(ChildStage::kRootEntry, error, i);
    }
  }
  if (const int error = PivotInto(root_fd); error != 0) return fail(ChildStage::kRootPivot, error);
  // Last: until here our own tmpfs had to be writable. Not recursive: every bind has its own flags.
  if (const int error = SetAttributes(root_fd, kMountAttrReadOnly, 0); error != 0) {
    return fail(ChildStage::kRootPivot, error);
  }
  return {};
}

AFTER_FORK int MountFreshTmpfs(const FreshMount& mount) noexcept {
  return MountFresh("tmpfs", mount.target, mount.options);
}

AFTER_FORK int MountFreshProc() noexcept {
  return MountFresh("proc", "/proc", "hidepid=invisible,subset=pid");
}

}  // namespace glovebox::sandbox

#include "sandbox/parent/box_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace glovebox::sandbox {
namespace {

constexpr char kServerPrefix[] = "server-";
constexpr char kLockName[] = "lock";
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// The names in a folder, "." and ".." excepted. `fd` stays the caller's.
std::vector<std::string> NamesIn(int fd) {
  std::vector<std::string> names;
  const int copy = ::openat(fd, ".", kFolderFlags);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, CloseDir> folder(::fdopendir(copy));
  // A stream of its own. NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* entry = folder == nullptr ? nullptr : ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

// On failure what follows fails and says so.
void OpenUp(int folder, const std::string& name) {
  static_cast<void>(::fchmodat(folder, name.c_str(), 0700, 0) == 0);
}

// What is in the folder `name` of `top`: files go, folders come up to `top`, so that no depth needs
// more than two open descriptors.
void Flatten(int top, const std::string& name, std::uint64_t& moved) {
  OpenUp(top, name);
  const UniqueFd folder(::openat(top, name.c_str(), kFolderFlags));
  for (const std::string& child : folder ? NamesIn(folder.get()) : std::vector<std::string>()) {
    if (::unlinkat(folder.get(), child.c_str(), 0) == 0) continue;
    OpenUp(folder.get(), child);  // a folder that moves is written to
    const std::string place = "moved-" + std::to_string(moved++);
    ::renameat(folder.get(), child.c_str(), top, place.c_str());
  }
}

// False when something cannot be removed.
bool EmptyFolder(int top) {
  std::uint64_t moved = 0;
  while (true) {
    const std::vector<std::string> names = NamesIn(top);
    if (names.empty()) return true;
    bool progress = false;
    for (const std::string& name : names) {
      if (::unlinkat(top, name.c_str(), 0) == 0) {
        progress = true;
        continue;
      }
      Flatten(top, name, moved);
      if (::unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0) progress = true;
    }
    if (!progress) return false;
  }
}

void RemoveFolder(const std::string& path) {
  const UniqueFd folder(::open(path.c_str(), kFolderFlags));
  if (!folder) return;
  EmptyFolder(folder.get());
  ::rmdir(path.c_str());
}

// A folder of ours that nobody else can have put there.
Status MakePrivate(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return Error::FromErrno("making " + path, errno);
  }
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return Error::FromErrno("looking at " + path, errno);
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 0022) != 0) {
    return Error(Errc::kUnsupported, path + " is not a folder of this user's alone: remove it");
  }
  return {};
}

std::string UsualPlace() {
  const char* memory = "/dev/shm";
  return ::access(memory, W_OK | X_OK) == 0 ? memory : "/tmp";
}

Result<UniqueFd> OpenLock(const std::string& folder) {
  const std::string path = folder + "/" + kLockName;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Error::FromErrno("opening " + path, errno);
  return fd;
}

// Removes the folders of servers that are dead. Precondition: the base's own lock is held, so that
// no server is between making its folder and locking it.
void Sweep(const std::string& base) {
  const UniqueFd folder(::open(base.c_str(), kFolderFlags));
  if (!folder) return;
  for (const std::string& name : NamesIn(folder.get())) {
    if (!name.starts_with(kServerPrefix)) continue;
    const std::string path = base + "/" + name;
    const Result<UniqueFd> lock = OpenLock(path);
    if (lock && ::flock(lock->get(), LOCK_EX | LOCK_NB) == 0) RemoveFolder(path);
  }
}

// A folder that its owner, our own uid, has closed to itself. Opened up by a descriptor: the box
// may put a link in its place meanwhile.
UniqueFd OpenClosed(int parent, const std::string& name) {
  const UniqueFd folder(::openat(parent, name.c_str(), kFolderFlags | O_PATH));
  if (!folder) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(folder.get());
  if (::chmod(path.c_str(), 0700) != 0) return {};
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Moved away, or replaced, since it was seen: the next look meets it where it is then.
bool IsGone(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

void AddFolder(int fd, int depth, FolderUse& use) {
  for (const std::string& name : NamesIn(fd)) {
    struct stat info;
    if (::fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone already
    use.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    if (++use.entries > kFolderEntriesMax) use.complete = false;
    if (!use.complete) return;
    if (!S_ISDIR(info.st_mode)) continue;
    UniqueFd child(::openat(fd, name.c_str(), kFolderFlags));
    const bool closed = !child && errno == EACCES;
    if (closed) child = OpenClosed(fd, name);
    if (child && depth < kFolderDepthMax) {
      AddFolder(child.get(), depth + 1, use);
    } else if (child || (closed && !IsGone(errno))) {
      use.complete = false;
    }
    if (child && closed) ::fchmod(child.get(), info.st_mode & 07777);
  }
}

}  // namespace

Result<BoxFolders> BoxFolders::Create(const std::string& parent) {
  const std::string base =
      (parent.empty() ? UsualPlace() : parent) + "/glovebox-" + std::to_string(::geteuid());
  // Boxes with other uids pass through; only to their own folder.
  const mode_t mode = ::geteuid() == 0 ? 0711 : 0700;
  TRY(MakePrivate(base, mode));
  const UniqueFd base_lock = TRY(OpenLock(base));
  if (::flock(base_lock.get(), LOCK_EX) != 0) return Error::FromErrno("locking " + base, errno);
  Sweep(base);
  std::string path = base + "/" + kServerPrefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return Error::FromErrno("making " + path, errno);
  UniqueFd lock = TRY(OpenLock(path));
  if (::chmod(path.c_str(), mode) != 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error::FromErrno("locking " + path, errno);
  }
  return BoxFolders(std::move(path), std::move(lock));
}

BoxFolders::~BoxFolders() {
  if (lock_) RemoveFolder(path_);
}

Result<std::string> BoxFolders::Make(std::uint32_t number, uid_t owner) {
  Remove(number);
  const std::string path = path_ + "/box-" + std::to_string(number);
  for (const std::string& folder : {path, path + "/work", path + "/tmp"}) {
    if (::mkdir(folder.c_str(), 0700) != 0) return Error::FromErrno("making " + folder, errno);
  }
  if (owner == ::geteuid()) return path;
  for (const std::string& folder : {path + "/work", path + "/tmp", path}) {
    if (::chown(folder.c_str(), owner, owner) != 0) {
      return Error::FromErrno("giving " + folder + " to its box", errno);
    }
  }
  return path;
}

void BoxFolders::Remove(std::uint32_t number) {
  RemoveFolder(path_ + "/box-" + std::to_string(number));
}

FolderUse MeasureFolder(int folder_fd) {
  FolderUse use;
  AddFolder(folder_fd, 0, use);
  return use;
}

}  // namespace glovebox::sandbox

#include "sandbox/parent/memory_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "base/file.h"
#include "sandbox/parent/box_folders.h"

namespace glovebox::sandbox {
namespace {

constexpr std::uint64_t kTooMuch = 1ull << 50;

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// "Pid:\t123" of a pidfd: how we, in our PID namespace, call the process.
pid_t PidOf(int pidfd) {
  const std::string info = ReadFile("/proc/self/fdinfo/" + std::to_string(pidfd)).value_or("");
  const std::size_t line = info.find("\nPid:\t");
  return line == std::string::npos ? -1 : std::atoi(info.c_str() + line + 6);
}

// Every process below `root`, itself included. Orphans of the box belong to its init, so none is
// missed; one that is born while we look is seen at the next look.
std::vector<pid_t> TreeOf(pid_t root) {
  std::vector<pid_t> tree = {root};
  for (std::size_t next = 0; next < tree.size(); ++next) {
    const std::string tasks = "/proc/" + std::to_string(tree[next]) + "/task";
    const std::unique_ptr<DIR, CloseDir> folder(::opendir(tasks.c_str()));
    if (folder == nullptr) continue;
    while (const dirent* task = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe)
      if (task->d_name[0] == '.') continue;
      std::istringstream children(ReadFile(tasks + "/" + task->d_name + "/children").value_or(""));
      for (pid_t child = 0; children >> child;) tree.push_back(child);
    }
  }
  return tree;
}

// Resident and not of a file: at least what the process has for itself, too much where forks still
// share pages.
std::uint64_t UpperBoundOf(pid_t pid) {
  std::istringstream statm(ReadFile("/proc/" + std::to_string(pid) + "/status").value_or(""));
  std::uint64_t kilobytes = 0;
  for (std::string line; std::getline(statm, line);) {
    if (line.starts_with("RssAnon:") || line.starts_with("RssShmem:")) {
      kilobytes += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    }
  }
  return kilobytes << 10;
}

// Anonymous and shared memory, each page divided by the number of those who share it.
std::uint64_t ProportionOf(pid_t pid) {
  const std::optional<std::string> text =
      ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup");
  if (!text) return UpperBoundOf(pid);  // not ours to see: init's, or one that just died
  std::istringstream rollup(*text);
  std::uint64_t kilobytes = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Pss_Anon:") || line.starts_with("Pss_Shmem:")) {
      kilobytes += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    }
  }
  return kilobytes << 10;
}

// Files of the folder's file system that have no name any more and live as long as a descriptor.
std::uint64_t NamelessBytes(const std::vector<pid_t>& processes, int folder_fd) {
  struct stat folder;
  if (::fstat(folder_fd, &folder) != 0) return kTooMuch;
  std::set<ino_t> seen;
  std::uint64_t bytes = 0;
  for (const pid_t pid : processes) {
    const std::string fds = "/proc/" + std::to_string(pid) + "/fd";
    const std::unique_ptr<DIR, CloseDir> open_files(::opendir(fds.c_str()));
    if (open_files == nullptr) continue;  // init's, which has none, or one that just died
    while (const dirent* entry = ::readdir(open_files.get())) {  // NOLINT(concurrency-mt-unsafe)
      struct stat info;
      if (entry->d_name[0] == '.' ||
          ::fstatat(::dirfd(open_files.get()), entry->d_name, &info, 0) != 0) {
        continue;
      }
      if (!S_ISREG(info.st_mode) || info.st_nlink != 0 || info.st_dev != folder.st_dev) continue;
      if (seen.insert(info.st_ino).second) {
        bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
      }
    }
  }
  return bytes;
}

}  // namespace

Result<MemoryMeter> MemoryMeter::Open(int init_pidfd, const std::vector<std::string>& tmpfs,
                                      int insider_pidfd) {
  const pid_t init = PidOf(init_pidfd);
  if (init <= 0) return Error(Errc::kSystem, "finding a box among the processes of this host");
  MemoryMeter meter(init);
  const pid_t insider = insider_pidfd < 0 ? init : PidOf(insider_pidfd);
  for (const std::string& folder : tmpfs) {
    const std::string path = "/proc/" + std::to_string(insider) + "/root" + folder;
    meter.tmpfs_.emplace_back(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!meter.tmpfs_.back()) return Error::FromErrno("looking at a box's " + folder, errno);
  }
  return meter;
}

Result<MemoryMeter> MemoryMeter::OpenShared(int init_pidfd, const std::string& folder) {
  MemoryMeter meter = TRY(Open(init_pidfd, {}));
  meter.folder_.reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!meter.folder_) return Error::FromErrno("looking at a box's " + folder, errno);
  return meter;
}

std::uint64_t MemoryMeter::FileBytes(const std::vector<pid_t>& processes) const {
  std::uint64_t bytes = 0;
  for (const UniqueFd& fd : tmpfs_) {
    struct statfs info;
    if (::fstatfs(fd.get(), &info) != 0) continue;
    bytes += (info.f_blocks - info.f_bfree) * static_cast<std::uint64_t>(info.f_bsize);
  }
  if (!folder_) return bytes;
  const FolderUse use = MeasureFolder(folder_.get());
  if (!use.complete) return kTooMuch;
  return bytes + use.bytes + NamelessBytes(processes, folder_.get());
}

std::uint64_t MemoryMeter::Measure(std::uint64_t threshold) {
  const std::vector<pid_t> processes = TreeOf(init_);
  processes_ = processes.size();
  const std::uint64_t files = FileBytes(processes);
  std::uint64_t bytes = files;
  for (const pid_t pid : processes) bytes += UpperBoundOf(pid);
  if (bytes > threshold) {
    bytes = files;
    for (const pid_t pid : processes) bytes += ProportionOf(pid);
  }
  peak_ = std::max(peak_, bytes);
  return bytes;
}

}  // namespace glovebox::sandbox

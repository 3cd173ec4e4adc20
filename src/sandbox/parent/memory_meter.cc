#include "sandbox/parent/memory_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "base/file.h"

namespace glovebox::sandbox {
namespace {

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
  std::istringstream rollup(
      ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup").value_or(""));
  std::uint64_t kilobytes = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Pss_Anon:") || line.starts_with("Pss_Shmem:")) {
      kilobytes += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    }
  }
  return kilobytes << 10;
}

}  // namespace

Result<MemoryMeter> MemoryMeter::Open(int init_pidfd, const std::vector<std::string>& tmpfs) {
  const pid_t init = PidOf(init_pidfd);
  if (init <= 0) return Error(Errc::kSystem, "finding a box among the processes of this host");
  MemoryMeter meter(init);
  for (const std::string& folder : tmpfs) {
    const std::string path = "/proc/" + std::to_string(init) + "/root" + folder;
    meter.tmpfs_.emplace_back(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!meter.tmpfs_.back()) return Error::FromErrno("looking at a box's " + folder, errno);
  }
  return meter;
}

std::uint64_t MemoryMeter::Measure(std::uint64_t threshold) {
  std::uint64_t files = 0;
  for (const UniqueFd& fd : tmpfs_) {
    struct statfs info;
    if (::fstatfs(fd.get(), &info) != 0) continue;
    files += (info.f_blocks - info.f_bfree) * static_cast<std::uint64_t>(info.f_bsize);
  }
  const std::vector<pid_t> processes = TreeOf(init_);
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

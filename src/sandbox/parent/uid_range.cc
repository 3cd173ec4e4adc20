#include "sandbox/parent/uid_range.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace glovebox::sandbox {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// From the status file: the owner of /proc/PID is root for an undumpable process, as ours are.
std::optional<uid_t> UidOf(const std::string& pid) {
  const std::string status = ReadFile("/proc/" + pid + "/status").value_or("");
  const std::size_t line = status.find("\nUid:\t");
  if (line == std::string::npos) return std::nullopt;
  return static_cast<uid_t>(std::strtoul(status.c_str() + line + 6, nullptr, 10));
}

std::vector<pid_t> ProcessesOf(uid_t first, uid_t last) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, CloseDir> proc(::opendir("/proc"));
  if (proc == nullptr) return found;
  // readdir on a stream of our own is safe from any thread.
  while (const dirent* entry = ::readdir(proc.get())) {  // NOLINT(concurrency-mt-unsafe)
    const long pid = std::strtol(entry->d_name, nullptr, 10);
    if (pid <= 0) continue;
    const std::optional<uid_t> uid = UidOf(entry->d_name);
    if (uid && *uid >= first && *uid <= last) found.push_back(static_cast<pid_t>(pid));
  }
  return found;
}

}  // namespace

Result<UidRange> UidRange::TakeIndex(const std::string& lock_folder, std::uint32_t index) {
  const std::string path = lock_folder + "/uid-ranges";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Error::FromErrno("opening " + path, errno);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = index;
  lock.l_len = 1;
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0) return UidRange(std::move(fd), index);
  if (errno != EAGAIN && errno != EACCES) return Error::FromErrno("locking " + path, errno);
  return Error(Errc::kLimit, "uid range " + std::to_string(index) + " is in use");
}

Result<UidRange> UidRange::Take(const std::string& lock_folder) {
  if (::mkdir(lock_folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error::FromErrno("making " + lock_folder, errno);
  }
  for (std::uint32_t index = 0; index < kUidRangeCount; ++index) {
    Result<UidRange> range = TakeIndex(lock_folder, index);
    if (range || range.error().code() != Errc::kLimit) return range;
  }
  return Error(Errc::kLimit, "all " + std::to_string(kUidRangeCount) +
                                 " uid ranges of this host are in use by other Glovebox servers");
}

bool MapsHoldRanges(std::string_view uid_map, std::string_view gid_map) {
  constexpr std::uint64_t kEnd =
      std::uint64_t{kUidRangesBase} + std::uint64_t{kUidRangeCount} * kUidsPerRange;
  const auto holds = [](std::string_view map) {
    for (const std::string_view line : Split(map, '\n')) {
      std::istringstream fields{std::string(line)};
      std::uint64_t inside = 0;
      std::uint64_t outside = 0;
      std::uint64_t count = 0;
      if (!(fields >> inside >> outside >> count)) continue;
      if (inside <= kUidRangesBase && inside + count >= kEnd) return true;
    }
    return false;
  };
  return holds(uid_map) && holds(gid_map);
}

bool UidRangesAreMapped() {
  return MapsHoldRanges(ReadFile("/proc/self/uid_map").value_or(""),
                        ReadFile("/proc/self/gid_map").value_or(""));
}

Status KillLeftovers(const UidRange& range) {
  const uid_t last = range.base() + kUidsPerRange - 1;
  for (int attempt = 0; attempt < 200; ++attempt) {
    const std::vector<pid_t> leftovers = ProcessesOf(range.base(), last);
    if (leftovers.empty()) return {};
    for (const pid_t pid : leftovers) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Error(Errc::kSystem, "process " + std::to_string(ProcessesOf(range.base(), last).front()) +
                                  " of an earlier server cannot be killed");
}

}  // namespace glovebox::sandbox

#include "sandbox/parent/user_tasks.h"

#include <dirent.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/file.h"

namespace glovebox::sandbox {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// The first number of a line of /proc/<pid>/status, "Uid:\t1000\t1000\t...".
unsigned long FieldOf(const std::string& status, const char* name) {
  const std::size_t line = status.find(name);
  return line == std::string::npos ? 0 : std::strtoul(status.c_str() + line + 5, nullptr, 10);
}

}  // namespace

std::uint32_t CountTasksOf(uid_t user) {
  std::uint32_t tasks = 0;
  const std::unique_ptr<DIR, CloseDir> processes(::opendir("/proc"));
  // A stream of its own. NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* entry = processes == nullptr ? nullptr : ::readdir(processes.get())) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const std::string status =
        ReadFile(std::string("/proc/") + entry->d_name + "/status").value_or("");
    if (status.empty() || FieldOf(status, "\nUid:") != user) continue;
    const std::size_t threads = status.find("\nThreads:");
    if (threads == std::string::npos) continue;
    tasks += static_cast<std::uint32_t>(std::strtoul(status.c_str() + threads + 9, nullptr, 10));
  }
  return tasks;
}

}  // namespace glovebox::sandbox

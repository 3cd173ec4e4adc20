#include "leftover.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "audit/cage.h"
#include "box_runner.h"

namespace glovebox::isolation {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kThrowAwayUidMin = 2'000'000'000;

bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string Field(const std::string& status, const std::string& name) {
  const std::size_t at = status.find("\n" + name + ":\t");
  if (at == std::string::npos) return {};
  const std::size_t start = at + name.size() + 3;
  return status.substr(start, status.find_first_of("\t\n", start) - start);
}

void ForEachEntry(const std::string& folder, const auto& visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    if (error) return;
    visit(*it);
  }
}

// A process that counts: of a throw-away uid, or our own child that nobody waited for.
std::set<std::string> Processes(bool with_zombies) {
  std::set<std::string> found;
  const std::string own_pid = std::to_string(getpid());
  ForEachEntry("/proc", [&](const fs::directory_entry& entry) {
    const std::string pid = entry.path().filename();
    if (!IsNumber(pid)) return;
    const std::string status = "\n" + FileText("/proc/" + pid + "/status");
    const std::string uid = Field(status, "Uid");
    if (uid.empty()) return;
    const bool zombie = Field(status, "State").rfind('Z', 0) == 0;
    const bool throw_away = std::stoull(uid) >= kThrowAwayUidMin;
    const bool ours = zombie && Field(status, "PPid") == own_pid;
    if ((throw_away && !zombie) || (with_zombies && ours)) {
      found.insert("process " + pid + " uid " + uid + " " + Field(status, "Name") +
                   (zombie ? " (zombie)" : ""));
    }
  });
  return found;
}

std::set<std::string> Groups() {
  std::set<std::string> found;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it("/sys/fs/cgroup", options, error), end; it != end;
       it.increment(error)) {
    if (error) break;
    if (it.depth() > 6 || !it->is_directory(error)) continue;
    const std::string path = it->path();
    // Those of the cage itself, and of other programs that run on this machine now, do not count.
    const std::size_t cage = path.find("/glovebox-cage-");
    const bool own_cage = path.rfind(fs::path(CageLimitFile()).parent_path().string(), 0) == 0;
    if (cage == std::string::npos ? path.find("glovebox") != std::string::npos : own_cage) {
      found.insert("cgroup " + path);
    }
  }
  return found;
}

std::set<std::string> Files() {
  std::set<std::string> found;
  for (const char* folder :
       {"/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/run/glovebox"}) {
    ForEachEntry(folder, [&](const fs::directory_entry& entry) {
      struct stat info = {};
      if (lstat(entry.path().c_str(), &info) != 0) return;
      const bool named = entry.path().filename().string().find("glovebox") != std::string::npos;
      const bool private_folder = std::string_view(folder) == "/dev/shm";
      if (named || private_folder || info.st_uid >= kThrowAwayUidMin) {
        found.insert("file " + entry.path().string());
      }
    });
  }
  return found;
}

std::set<std::string> Descriptors() {
  std::set<std::string> found;
  ForEachEntry("/proc/self/fd", [&](const fs::directory_entry& entry) {
    std::array<char, 256> target = {};
    const ssize_t length = readlink(entry.path().c_str(), target.data(), target.size() - 1);
    if (length < 0 || std::string(target.data()).find("/fd") != std::string::npos) return;
    found.insert("descriptor " + entry.path().filename().string() + " " + target.data());
  });
  return found;
}

void Compare(const std::set<std::string>& before, const std::set<std::string>& after,
             std::string& text) {
  for (const std::string& item : after) {
    if (before.count(item) == 0) text += item + "\n";
  }
}

}  // namespace

std::set<std::string> BoxProcesses() { return Processes(false); }

HostState LookAtHost() {
  HostState state;
  state.processes = Processes(true);
  std::stringstream mounts(FileText("/proc/self/mountinfo"));
  for (std::string line; std::getline(mounts, line);) state.mounts.insert("mount " + line);
  state.groups = Groups();
  state.files = Files();
  state.descriptors = Descriptors();
  return state;
}

std::string Leftovers(const HostState& before, const HostState& after) {
  std::string text;
  Compare(before.processes, after.processes, text);
  Compare(before.mounts, after.mounts, text);
  Compare(before.groups, after.groups, text);
  Compare(before.files, after.files, text);
  Compare(before.descriptors, after.descriptors, text);
  return text;
}

std::string AwaitNoLeftovers(const HostState& before, int timeout_ms) {
  std::string left;
  Runner().RunUntil(
      [&] {
        left = Leftovers(before, LookAtHost());
        return left.empty();
      },
      timeout_ms);
  return left;
}

}  // namespace glovebox::isolation

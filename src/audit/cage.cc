#include "audit/cage.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "base/unique_fd.h"

namespace glovebox::audit {
namespace {

struct Group {
  std::string folder;  // the cage's own group
  bool unified = false;
};

struct CageState {
  std::string problem;
  Group memory;
  Group pids;
  std::string limit_file;
};

CageState& State() {
  static CageState state;
  return state;
}

std::vector<std::string> Pieces(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool Names(const std::string& list, const std::string& word) {
  for (const std::string& part : Pieces(list, ',')) {
    if (part == word) return true;
  }
  return false;
}

// Our own group of `controller`: from /proc/self/cgroup, then where that hierarchy is mounted.
Result<Group> OwnGroup(const std::string& controller) {
  std::string path;
  bool unified = true;
  for (const std::string& line : Pieces(FileText("/proc/self/cgroup"), '\n')) {
    const std::vector<std::string> fields = Pieces(line + ":", ':');
    if (fields.size() < 3) continue;
    if (Names(fields[1], controller)) {
      path = fields[2];
      unified = false;
    } else if (fields[0] == "0" && unified) {
      path = fields[2];
    }
  }
  for (const std::string& line : Pieces(FileText("/proc/self/mountinfo"), '\n')) {
    const std::vector<std::string> words = Pieces(line, ' ');
    std::size_t dash = 6;
    while (dash < words.size() && words[dash] != "-") ++dash;
    if (dash + 3 >= words.size()) continue;
    const bool match = unified ? words[dash + 1] == "cgroup2"
                               : words[dash + 1] == "cgroup" && Names(words[dash + 3], controller);
    if (!match) continue;
    const std::string& root = words[3];
    if (root != "/" && path.rfind(root, 0) == 0) path = path.substr(root.size());
    return Group{words[4] + (path == "/" ? "" : path), unified};
  }
  return Error(Errc::kUnsupported, "no cgroup hierarchy holds the controller " + controller);
}

Status MakeGroup(const std::string& controller, const std::string& limit, Group& group) {
  group = TRY(OwnGroup(controller));
  if (group.unified) TRY(WriteExisting(group.folder + "/cgroup.subtree_control", "+" + controller));
  group.folder += "/glovebox-cage-" + std::to_string(getpid());
  if (mkdir(group.folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return Error::FromErrno("mkdir " + group.folder, errno);
  }
  const std::string file = controller == "pids" ? "/pids.max"
                           : group.unified      ? "/memory.max"
                                                : "/memory.limit_in_bytes";
  if (controller == "memory") State().limit_file = group.folder + file;
  return WriteExisting(group.folder + file, limit);
}

Status MakeGroups() {
  TRY(MakeGroup("memory", std::to_string(kCageMemoryBytesMax), State().memory));
  return MakeGroup("pids", std::to_string(kCageProcessesMax), State().pids);
}

// A cgroup and those below it; whether it is gone.
bool RemoveTree(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) RemoveTree(entry.path());
  }
  return rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

void RemoveGroups() {
  for (const Group& group : {State().memory, State().pids}) {
    if (group.folder.empty()) continue;
    for (int attempt = 0; attempt < 50 && !RemoveTree(group.folder); ++attempt) usleep(20'000);
  }
}

Status Mount(const char* source, const char* target, const char* type, unsigned long flags,
             const char* data) {
  if (mount(source, target, type, flags, data) == 0) return {};
  return Error::FromErrno(std::string("mount ") + target, errno);
}

// What tests and the engine write on stays writable; the rest of the machine does not.
Status ArrangeMounts() {
  TRY(Mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  TRY(Mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
  for (const char* folder : {"/tmp", "/run", "/var"}) {
    TRY(Mount(folder, folder, nullptr, MS_BIND | MS_REC, nullptr));
  }
  TRY(Mount("none", "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr));
  TRY(Mount("cage", "/srv", "tmpfs", MS_NOSUID, "size=64m,mode=755"));
  TRY(Mount("cage", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"));
  if (mkdir(kHostFolder, 0755) != 0) return Error::FromErrno("mkdir /srv", errno);
  return {};
}

Status RaiseLoopback() {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::snprintf(request.ifr_name, sizeof(request.ifr_name), "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0) return {};
  return Error::FromErrno("raising the loopback interface", errno);
}

Status PrepareWorld() {
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) {
    return Error::FromErrno("unshare", errno);
  }
  if (sethostname("cage", 4) != 0) return Error::FromErrno("sethostname", errno);
  return RaiseLoopback();
}

int AwaitExit(pid_t child) {
  while (true) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno != EINTR) return 1;
    if (pid == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

// PID 1 of the cage: reaps; its end is the end of everything in the cage.
[[noreturn]] void RunCageInit(pid_t tests) { _exit(AwaitExit(tests)); }

Status JoinGroups() {
  TRY(WriteExisting(State().memory.folder + "/cgroup.procs", "0"));
  return WriteExisting(State().pids.folder + "/cgroup.procs", "0");
}

std::string PeakFile() {
  const Group& group = State().memory;
  return group.folder + (group.unified ? "/memory.peak" : "/memory.max_usage_in_bytes");
}

CageEntry Broken(const Error& error) {
  State().problem = error.message();
  return {.inside = true};
}

}  // namespace

CageEntry EnterCage() {
  if (Status made = MakeGroups(); !made.ok()) {
    RemoveGroups();
    return Broken(made.error());
  }
  const pid_t world = fork();
  if (world < 0) return Broken(Error::FromErrno("fork", errno));
  if (world > 0) {
    const int code = AwaitExit(world);
    RemoveGroups();
    return {.inside = false, .exit_code = code};
  }
  // The middle process stays outside the new PID namespace and waits: its children are inside.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Status ready = JoinGroups();
  if (ready.ok()) ready = PrepareWorld();
  if (!ready.ok()) return Broken(ready.error());
  const pid_t init = fork();
  if (init < 0) return Broken(Error::FromErrno("fork", errno));
  if (init > 0) _exit(AwaitExit(init));
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (Status mounts = ArrangeMounts(); !mounts.ok()) State().problem = mounts.error().message();
  const pid_t tests = fork();
  if (tests > 0) RunCageInit(tests);
  return {.inside = true};
}

const std::string& CageProblem() { return State().problem; }

const std::string& CageLimitFile() { return State().limit_file; }

std::uint64_t CageMemoryBytes() {
  const Group& group = State().memory;
  const std::string text =
      FileText(group.folder + (group.unified ? "/memory.current" : "/memory.usage_in_bytes"));
  return text.empty() ? 0 : std::stoull(text);
}

std::uint64_t CageMemoryPeak() {
  const std::string text = FileText(PeakFile());
  return text.empty() ? 0 : std::stoull(text);
}

Status ResetCageMemoryPeak() { return WriteExisting(PeakFile(), "0"); }

std::uint32_t CageTasks() {
  std::uint32_t tasks = 0;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return 0;
  // A stream of its own. NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* entry = readdir(folder)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    struct stat info = {};
    const std::string path = std::string("/proc/") + entry->d_name + "/task";
    if (stat(path.c_str(), &info) == 0) tasks += static_cast<std::uint32_t>(info.st_nlink - 2);
  }
  closedir(folder);
  return tasks;
}

std::string OwnLimitFile() {
  const Result<Group> group = OwnGroup("memory");
  if (!group) return {};
  return group->folder + (group->unified ? "/memory.max" : "/memory.limit_in_bytes");
}

std::string FileText(const std::string& path) { return ReadFile(path).value_or(std::string()); }

}  // namespace glovebox::audit

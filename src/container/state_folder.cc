#include "container/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "container/program.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kContainer = "c-";
constexpr std::string_view kEngine = "e";
constexpr std::string_view kImage = "image-";
constexpr auto kDeletePatience = std::chrono::seconds(10);
constexpr auto kEndPatience = std::chrono::seconds(2);

Status MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error::FromErrno("making " + path, error.value());
  return {};
}

Status WriteNew(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return Error::FromErrno("making " + path, errno);
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put < 0) return Error::FromErrno("writing " + path, errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

// Runtimes mount in namespaces of their own. Should one ever not have, what is mounted there is the
// host's, and nothing below is removed.
bool HoldsMounts(const std::string& folder) {
  const std::string mounts = ReadFile("/proc/self/mountinfo").value_or("");
  return mounts.find(" " + folder + "/") != std::string::npos;
}

void RemoveTree(const std::string& folder) {
  if (HoldsMounts(folder)) return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

constexpr std::string_view kDevices = "devices";

bool Names(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = Split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Our own path in the hierarchy of devices: below it runc makes groups, unless we are at the top.
std::string OwnDeviceGroup() {
  const std::string groups = ReadFile("/proc/self/cgroup").value_or("");
  for (const std::string_view line : Split(groups, '\n')) {
    const std::vector<std::string_view> parts = Split(line, ':');
    if (parts.size() == 3 && Names(parts[1], kDevices)) return std::string(parts[2]);
  }
  return {};
}

// runc makes a group for devices, called as the container, before it notes anything: killed between
// the two it leaves one that its `delete` does not know. One that holds somebody stays.
void RemoveDeviceGroup(const std::string& id) {
  const std::string mounts = ReadFile("/proc/self/mountinfo").value_or("");
  for (const std::string_view line : Split(mounts, '\n')) {
    const std::size_t dash = line.find(" - cgroup ");
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> front = Split(line.substr(0, dash), ' ');
    const std::vector<std::string_view> back = Split(line.substr(dash + 3), ' ');
    if (front.size() < 5 || back.size() < 3 || !Names(back[2], kDevices)) continue;
    for (const std::string& group : {std::string(), OwnDeviceGroup()}) {
      std::string path(front[4]);
      path.append(group).append("/").append(id);
      ::rmdir(path.c_str());
    }
  }
}

std::string NewServerName() {
  std::uint32_t number = 0;
  CHECK(::getrandom(&number, sizeof(number), 0) == sizeof(number));
  // Short, because of the paths below it; the lock is made anew, or there is no server.
  return std::to_string(::getpid()) + "-" + std::to_string(number % 1'000'000);
}

// A lock that nobody holds, or nothing. Everybody who has the file open has the same one, and
// nobody else opens it.
UniqueFd TakeLock(const std::string& path, int flags) {
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600));
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.reset();
  return lock;
}

void SweepDead(const std::string& parent) {
  std::error_code ignored;
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    folders.push_back(entry.path().string());
  }
  for (const std::string& folder : folders) {
    const UniqueFd lock = TakeLock(folder + "/lock", 0);
    // One without a lock file was abandoned between its first two steps.
    const bool begun = ::access((folder + "/lock").c_str(), F_OK) == 0;
    if (lock || !begun) SweepStateFolder(folder);
  }
}

// The processes whose command line names something that begins so.
std::vector<pid_t> ProcessesNaming(const std::string& path) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    const auto pid = static_cast<pid_t>(std::atol(entry.path().filename().c_str()));
    if (pid <= 0 || pid == ::getpid()) continue;
    const std::string line = ReadFile(entry.path().string() + "/cmdline").value_or("");
    if (line.find(path) != std::string::npos) found.push_back(pid);
  }
  return found;
}

// An engine's monitor outlives what it watches over by a moment, in which it has the engine clean
// up. Whatever it would write then would be written after we have removed it.
void EndProcessesNaming(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + kEndPatience;
  for (std::vector<pid_t> found = ProcessesNaming(path);
       !found.empty() && std::chrono::steady_clock::now() < deadline;
       found = ProcessesNaming(path)) {
    for (const pid_t pid : found) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Runs the command that was noted in `folder` for its end.
void ObeyNote(const std::string& folder) {
  const std::string note = ReadFile(folder + "/delete").value_or("");
  std::vector<std::string> arguments;
  for (const std::string_view line : Split(note, '\n')) {
    if (!line.empty()) arguments.emplace_back(line);
  }
  if (!arguments.empty()) static_cast<void>(RunProgram(arguments, kDeletePatience));
}

Status WriteNote(const std::string& folder, const std::vector<std::string>& delete_arguments) {
  std::string note;
  for (const std::string& argument : delete_arguments) note += argument + "\n";
  return WriteNew(folder + "/delete", note);
}

Status WriteAll(const std::string& folder, const NamedTexts& files) {
  for (const auto& [name, text] : files) {
    const fs::path path = fs::path(folder) / name;
    TRY(MakeFolders(path.parent_path()));
    TRY(WriteNew(path, text));
  }
  return {};
}

}  // namespace

void SweepStateFolder(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::string> images;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kImage)) images.push_back(entry.path().string());
    if (!name.starts_with(kContainer)) continue;
    // What cannot be ended by its runtime is ended with its cgroup.
    ObeyNote(entry.path().string());
    RemoveDeviceGroup(name.substr(kContainer.size()));
  }
  for (const std::string& image : images) ObeyNote(image);
  EndProcessesNaming(folder + "/" + std::string(kEngine));
  RemoveTree(folder);
}

Result<StateFolder> StateFolder::Open(const std::string& parent) {
  TRY(MakeFolders(parent));
  // One server at a time sweeps and settles: a folder without a lock is then nobody's.
  const UniqueFd turn(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn || ::flock(turn.get(), LOCK_EX) != 0) return Error::FromErrno(parent, errno);
  SweepDead(parent);
  StateFolder folder;
  folder.server_ = NewServerName();
  folder.path_ = parent + "/" + folder.server_;
  TRY(MakeFolders(folder.runtime_folder()));
  folder.lock_ = TakeLock(folder.path_ + "/lock", O_CREAT | O_EXCL);
  if (!folder.lock_) return Error::FromErrno("locking " + folder.path_, errno);
  return folder;
}

StateFolder::StateFolder(StateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      server_(std::move(other.server_)),
      lock_(std::move(other.lock_)) {}

StateFolder::~StateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    if (entry.path().filename().string().starts_with(kImage)) ObeyNote(entry.path().string());
  }
  RemoveTree(path_);
}

Result<std::string> StateFolder::AddContainer(
    const std::string& id, const NamedTexts& configuration,
    const std::vector<std::string>& delete_arguments) const {
  std::string folder = path_ + "/" + std::string(kContainer) + id;
  TRY(WriteAll(folder, configuration));
  TRY(WriteNote(folder, delete_arguments));
  return folder;
}

Result<std::string> StateFolder::AddImage(const std::string& name,
                                          const std::vector<std::string>& delete_arguments) const {
  std::string folder = path_ + "/" + std::string(kImage) + name;
  TRY(MakeFolders(folder));
  TRY(WriteNote(folder, delete_arguments));
  return folder;
}

std::string StateFolder::engine_folder(const std::string& id) const {
  return path_ + "/" + std::string(kEngine) + id.substr(id.rfind('-') + 1);
}

Status StateFolder::AddEngine(const std::string& id, const NamedTexts& files) const {
  return WriteAll(engine_folder(id), files);
}

void StateFolder::EndEngine(const std::string& id) const {
  EndProcessesNaming(engine_folder(id) + "/");
}

void StateFolder::RemoveContainer(const std::string& id) const {
  RemoveTree(path_ + "/" + std::string(kContainer) + id);
  RemoveTree(engine_folder(id));
  RemoveDeviceGroup(id);
  std::error_code ignored;
  std::vector<std::string> notes;
  for (const fs::directory_entry& entry : fs::directory_iterator(runtime_folder(), ignored)) {
    const std::string name = entry.path().filename().string();
    // By the whole id: another container's may begin with it.
    const bool longer = name.size() > id.size() && name[id.size()] >= '0' && name[id.size()] <= '9';
    if (name.starts_with(id) && !longer) notes.push_back(entry.path().string());
  }
  for (const std::string& note : notes) RemoveTree(note);
}

}  // namespace glovebox::container

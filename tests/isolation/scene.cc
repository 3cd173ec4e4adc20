#include "scene.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cage.h"
#include "scene_sockets.h"

namespace glovebox::isolation {
namespace {

namespace fs = std::filesystem;

constexpr char kTagPrefix[] = "isolation-payload-";  // of every file a payload makes
constexpr char kMqName[] = "/glovebox-isolation";
constexpr char kKeyName[] = "glovebox-isolation";
constexpr std::size_t kSizedFileBytes = 4'711;

std::string Path(const std::string& name) { return std::string(kHostFolder) + "/" + name; }

void Put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc | std::ios::binary) << text;
  chmod(path.c_str(), 0644);
  const timespec times[2] = {{1'000'000, 0}, {1'000'000, 0}};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

// The handle of a file as the bytes of the kernel's struct, in hexadecimal.
std::string HandleOf(const std::string& path) {
  alignas(file_handle) std::array<unsigned char, sizeof(file_handle) + MAX_HANDLE_SZ> buffer = {};
  auto* handle = reinterpret_cast<file_handle*>(buffer.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount_id = 0;
  if (name_to_handle_at(AT_FDCWD, path.c_str(), handle, &mount_id, 0) != 0) return {};
  std::string text;
  for (std::size_t i = 0; i < sizeof(file_handle) + handle->handle_bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned>(buffer.at(i)));
    text += digits;
  }
  return text;
}

// Processes of the cage, the dead excepted, that go by `name`.
std::vector<pid_t> ProcessesNamed(const std::string& name) {
  std::vector<pid_t> found;
  DIR* folder = opendir("/proc");
  // A stream of its own. NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat_line = ReadFile("/proc/" + pid + "/stat");
    const std::size_t end = stat_line.rfind(") ");
    if (end == std::string::npos || stat_line.compare(end, 3, ") Z") == 0) continue;
    if (stat_line.find(" (" + name + ") ") != std::string::npos) found.push_back(std::stoi(pid));
  }
  if (folder != nullptr) closedir(folder);
  return found;
}

// What payloads made and, killed, could not remove. Memory of such files stays charged to the
// cgroup of the box that wrote them, and the next box in that cgroup would pay for it.
void RemoveTraces(int own_segment) {
  for (const char* folder : {"/tmp", "/dev/shm"}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename().string().find(kTagPrefix) == std::string::npos) continue;
      fs::remove_all(entry.path(), error);
    }
  }
  std::ifstream segments("/proc/sysvipc/shm");
  std::string line;
  std::getline(segments, line);  // the heading
  while (std::getline(segments, line)) {
    int key = 0;
    int segment = 0;
    if (std::sscanf(line.c_str(), "%d %d", &key, &segment) == 2 && segment != own_segment) {
      shmctl(segment, IPC_RMID, nullptr);
    }
  }
}

bool MountedAt(const std::string& path) {
  return ReadFile("/proc/self/mountinfo").find(" " + path + " ") != std::string::npos;
}

wire::Value Text(const std::string& text) { return wire::Value{text}; }
wire::Value Number(std::uint64_t number) { return wire::Value{static_cast<std::int64_t>(number)}; }

// A device that this machine has and lets root open; reading it harms nobody.
std::string HarmlessDevice() {
  std::vector<std::string> candidates;
  std::ifstream partitions("/proc/partitions");
  for (std::string line; std::getline(partitions, line);) {
    std::array<char, 64> name = {};
    if (std::sscanf(line.c_str(), " %*u %*u %*u %63s", name.data()) == 1) {
      candidates.push_back(std::string("/dev/") + name.data());
    }
  }
  candidates.insert(candidates.end(), {"/dev/loop0", "/dev/kmsg"});
  for (const std::string& path : candidates) {
    if (UniqueFd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC))) return path;
  }
  return "/dev/null";
}

std::string FirstExisting(std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    if (access(path, W_OK) == 0) return path;
  }
  return *paths.begin();
}

}  // namespace

std::string RandomHex(std::size_t length) {
  std::string text;
  while (text.size() < length) {
    unsigned char byte = 0;
    if (getrandom(&byte, 1, 0) != 1) continue;
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Scene::Scene()
    : secret_("S" + RandomHex(14)),  // a process name holds 15 characters
      cookie_("C" + RandomHex(14)),
      ipc_key_(0x6b000000 | (getpid() & 0xffff)) {
  std::array<unsigned char, 3> part = {};
  static_cast<void>(getrandom(part.data(), part.size(), 0));
  secret_address_ = "10." + std::to_string(part[0] % 200 + 20) + "." + std::to_string(part[1]) +
                    "." + std::to_string(part[2] % 200 + 2);
}

Result<std::unique_ptr<Scene>> Scene::Create() {
  std::unique_ptr<Scene> scene(new Scene());
  TRY(scene->MakeFolder());
  TRY(AddLoopbackAddress(scene->secret_address_));
  TRY(scene->MakeListeners());
  TRY(scene->MakeIpc());
  TRY(scene->MakeTerminal());
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  syscall(SYS_add_key, "user", kKeyName, scene->secret_.data(), scene->secret_.size(),
          KEY_SPEC_SESSION_KEYRING);
  scene->victim_.emplace(TRY(Victim::Start(scene->secret_, kHostFolder)));
  TRY(scene->Reset());
  return scene;
}

Scene::~Scene() {
  KillSurvivors();
  if (!disk_file_.empty()) unlink(disk_file_.c_str());
  mq_unlink(kMqName);
}

Status Scene::MakeFolder() {
  disk_file_ = "/var/tmp/glovebox-isolation-" + std::to_string(getpid()) + "-" + RandomHex(8);
  Put(disk_file_, secret_);
  disk_handle_ = HandleOf(disk_file_);
  mkdir(Path("mounted").c_str(), 0755);
  return {};
}

Status Scene::MakeListeners() {
  listeners_.push_back(TRY(ListenTcp(AF_INET, tcp_port_)));
  listeners_.push_back(TRY(ListenTcp(AF_INET6, tcp6_port_)));
  listeners_.push_back(TRY(ListenUdp(udp_port_)));
  listeners_.push_back(TRY(ListenUnix(Path("socket"), SOCK_STREAM)));
  listeners_.push_back(TRY(ListenUnix(Path("datagrams"), SOCK_DGRAM)));
  listeners_.push_back(TRY(ListenUnix(std::string("\0", 1) + cookie_, SOCK_STREAM)));
  listeners_.push_back(TRY(ListenUnix(std::string("\0", 1) + cookie_ + "-d", SOCK_DGRAM)));
  // For the payload that listens. Below the ports that the kernel gives to those who connect:
  // knocking at one of those can connect a socket with itself.
  listen_port_ = static_cast<std::uint16_t>(20'000 + getpid() % 10'000);
  return {};
}

Status Scene::MakeIpc() {
  ipc_segment_ = shmget(ipc_key_, 4096, IPC_CREAT | 0666);
  ipc_queue_ = msgget(ipc_key_, IPC_CREAT | 0666);
  ipc_semaphore_ = semget(ipc_key_, 1, IPC_CREAT | 0666);
  mq_attr attributes = {};
  attributes.mq_maxmsg = 4;
  attributes.mq_msgsize = 64;
  const mode_t mask = umask(0);
  mq_ = mq_open(kMqName, O_CREAT | O_RDWR | O_NONBLOCK | O_CLOEXEC, 0666, &attributes);
  umask(mask);
  if (ipc_segment_ < 0 || ipc_queue_ < 0 || ipc_semaphore_ < 0 || mq_ < 0) {
    return Error::FromErrno("making System V and POSIX objects", errno);
  }
  void* segment = shmat(ipc_segment_, nullptr, 0);
  std::snprintf(static_cast<char*>(segment), 64, "%s", secret_.c_str());
  shmdt(segment);
  return {};
}

Status Scene::MakeTerminal() {
  terminal_master_.reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal_master_ || grantpt(terminal_master_.get()) != 0 ||
      unlockpt(terminal_master_.get()) != 0) {
    return Error::FromErrno("making a terminal", errno);
  }
  std::array<char, 128> name = {};
  ptsname_r(terminal_master_.get(), name.data(), name.size());
  terminal_path_ = name.data();
  terminal_slave_.reset(open(name.data(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  termios mode = {};
  tcgetattr(terminal_slave_.get(), &mode);
  cfmakeraw(&mode);
  tcsetattr(terminal_slave_.get(), TCSANOW, &mode);
  return {};
}

Status Scene::Reset() {
  while (MountedAt(Path("folder"))) umount2(Path("folder").c_str(), MNT_DETACH);
  if (!MountedAt(Path("mounted"))) mount("cage", Path("mounted").c_str(), "tmpfs", 0, "size=4k");
  for (const fs::directory_entry& entry : fs::directory_iterator(kHostFolder)) {
    const std::string name = entry.path().filename();
    if (name != "mounted" && name != "socket" && name != "datagrams") fs::remove_all(entry.path());
  }
  Put(Path("secret"), secret_);
  handle_ = HandleOf(Path("secret"));
  Put(Path("canary"), "canary\n");
  Put(Path("sized"), std::string(kSizedFileBytes, 's'));
  Put(Path("module.py"), "SECRET = '" + secret_ + "'\n");
  Put(Path("named-" + secret_), "");
  fs::create_symlink(secret_, Path("link"));
  fs::create_directory(Path("folder"));
  fs::create_directory(Path("open"));
  chmod(Path("open").c_str(), 01777);
  sethostname("cage", 4);
  fingerprint_ = Fingerprint();
  box_answered_ = false;
  KillSurvivors();
  RemoveTraces(ipc_segment_);
  victim_->Reset();
  SomethingHeard();
  TerminalTyped();
  std::array<char, 64> message = {};
  while (mq_receive(mq_, message.data(), message.size(), nullptr) >= 0) {
  }
  while (msgrcv(ipc_queue_, message.data(), 16, 0, IPC_NOWAIT | MSG_NOERROR) >= 0) {
  }
  semctl(ipc_semaphore_, 0, SETVAL, 0);
  return {};
}

wire::Value::Dict Scene::Globals(const std::string& nonce) const {
  const std::string device = HarmlessDevice();
  struct stat info = {};
  stat(device.c_str(), &info);
  return {{"nonce", Text(nonce)},
          {"tag", Text(kTagPrefix + RandomHex(12))},
          {"cookie", Text(cookie_)},
          {"host_dir", Text(kHostFolder)},
          {"secret_path", Text(Path("secret"))},
          {"canary_path", Text(Path("canary"))},
          {"scratch_same_fs", Text(Path("open"))},
          {"expected_size", Number(kSizedFileBytes)},
          {"handle", Text(handle_)},
          {"disk_handle", Text(disk_handle_)},
          {"device_path", Text(device)},
          {"device_mode", Number(info.st_mode & S_IFMT)},
          {"device_major", Number(major(info.st_rdev))},
          {"device_minor", Number(minor(info.st_rdev))},
          {"tcp_port", Number(tcp_port_)},
          {"tcp6_port", Number(tcp6_port_)},
          {"udp_port", Number(udp_port_)},
          {"listen_port", Number(listen_port_)},
          {"secret_address", Text(secret_address_)},
          {"unix_path", Text(Path("socket"))},
          {"unix_datagram_path", Text(Path("datagrams"))},
          {"abstract_name", Text(cookie_)},
          {"abstract_datagram_name", Text(cookie_ + "-d")},
          {"key_name", Text(kKeyName)},
          {"victim_pid", Number(static_cast<std::uint64_t>(victim_->pid()))},
          {"victim_fd", Number(kVictimFd)},
          {"victim_address", Number(victim_->secret_address())},
          {"victim_scribble", Number(victim_->scribble_address())},
          {"tty_path", Text(terminal_path_)},
          {"ipc_key", Number(static_cast<std::uint64_t>(ipc_key_))},
          {"mq_name", Text(kMqName + 1)},
          {"cgroup_file", Text(CageLimitFile())},
          {"sysfs_file", Text(FirstExisting({"/sys/kernel/mm/ksm/run", "/sys/kernel/profiling",
                                             "/sys/kernel/uevent_helper",
                                             "/sys/kernel/mm/transparent_hugepage/enabled",
                                             "/sys/module/printk/parameters/time"}))},
          {"memory_wanted", Number(kMemoryWantedBytes)},
          {"far_wanted", Number(kFarWantedBytes)},
          {"processes_wanted", Number(kProcessesWanted)},
          {"disk_wanted", Number(kDiskWantedBytes)},
          {"inodes_wanted", Number(kInodesWanted)},
          {"descriptors_wanted", Number(kDescriptorsWanted)}};
}

std::string Scene::Fingerprint() const {
  std::vector<std::string> lines;
  for (const fs::directory_entry& entry : fs::directory_iterator(kHostFolder)) {
    struct stat info = {};
    if (lstat(entry.path().c_str(), &info) != 0) continue;
    std::array<char, 128> numbers = {};
    std::snprintf(numbers.data(), numbers.size(), " %o %u %u %lu %ld ", info.st_mode, info.st_uid,
                  info.st_gid, info.st_nlink, static_cast<long>(info.st_blocks));
    std::string line = entry.path().string() + numbers.data();
    if (S_ISREG(info.st_mode)) line += std::to_string(info.st_mtime) + ReadFile(entry.path());
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

std::optional<std::string> Scene::FolderChanged() const {
  if (Fingerprint() == fingerprint_) return std::nullopt;
  return "the host's folder changed";
}

std::optional<std::string> Scene::SomethingHeard() {
  std::optional<std::string> heard;
  for (const Listener& listener : listeners_) {
    if (Drain(listener)) heard = "a listener of the host heard something";
  }
  return heard;
}

std::optional<std::string> Scene::MountsChanged() const {
  if (MountedAt(Path("folder"))) return "a mount appeared on the host";
  if (!MountedAt(Path("mounted"))) return "a mount vanished from the host";
  return std::nullopt;
}

std::optional<std::string> Scene::HostNameChanged() const {
  std::array<char, 65> name = {};
  gethostname(name.data(), name.size());
  if (strcmp(name.data(), "cage") == 0) return std::nullopt;
  return std::string("the host is now called ") + name.data();
}

std::optional<std::string> Scene::TerminalTyped() {
  std::array<char, 64> typed = {};
  bool any = false;
  while (read(terminal_slave_.get(), typed.data(), typed.size()) > 0) any = true;
  if (!any) return std::nullopt;
  return "something was typed into the host's terminal";
}

std::optional<std::string> Scene::IpcTouched() const {
  if (semctl(ipc_semaphore_, 0, GETVAL) != 0) return "the host's semaphore changed";
  msqid_ds queue = {};
  if (msgctl(ipc_queue_, IPC_STAT, &queue) != 0 || queue.msg_qnum != 0) {
    return "the host's System V queue got a message";
  }
  mq_attr attributes = {};
  if (mq_getattr(mq_, &attributes) != 0 || attributes.mq_curmsgs != 0) {
    return "the host's POSIX queue got a message";
  }
  return std::nullopt;
}

void Scene::KnockAtBox() {
  if (!box_answered_) box_answered_ = CanConnect(listen_port_);
}

std::optional<std::string> Scene::Survivor() const {
  const std::vector<pid_t> found = ProcessesNamed(cookie_);
  if (found.empty()) return std::nullopt;
  return std::to_string(found[0]);
}

void Scene::KillSurvivors() {
  for (int attempt = 0; attempt < 2'000; ++attempt) {
    const std::vector<pid_t> found = ProcessesNamed(cookie_);
    if (found.empty()) return;
    for (const pid_t pid : found) kill(pid, SIGKILL);
  }
}

}  // namespace glovebox::isolation

#include "audit/scene.h"

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
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "audit/cage.h"
#include "audit/scene_sockets.h"

namespace glovebox::audit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSizedFileBytes = 4'711;
// A size by which our programs' System V segments are told from others'.
constexpr std::uint64_t kSegmentBytes = kMemoryWantedBytes / 6 + 4'711;

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

// Processes that we can see, the dead excepted, that go by `name`.
std::vector<pid_t> ProcessesNamed(const std::string& name) {
  std::vector<pid_t> found;
  DIR* folder = opendir("/proc");
  // A stream of its own. NOLINTNEXTLINE(concurrency-mt-unsafe)
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (FileText("/proc/" + pid + "/comm") != name + "\n") continue;
    const std::string stat_line = FileText("/proc/" + pid + "/stat");
    const std::size_t end = stat_line.rfind(") ");
    if (end == std::string::npos || stat_line.compare(end, 3, ") Z") == 0) continue;
    found.push_back(std::stoi(pid));
  }
  if (folder != nullptr) closedir(folder);
  return found;
}

// What programs made and, killed, could not remove. Memory of such files stays charged to the
// cgroup of the box that wrote them, and the next box in that cgroup would pay for it.
void RemoveTraces(const std::string& cookie) {
  for (const char* folder : {"/tmp", "/dev/shm", "/var/tmp"}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename().string().find(cookie) == std::string::npos) continue;
      fs::remove_all(entry.path(), error);
    }
  }
  std::ifstream segments("/proc/sysvipc/shm");
  std::string line;
  std::getline(segments, line);  // the heading
  while (std::getline(segments, line)) {
    int key = 0;
    int segment = 0;
    unsigned mode = 0;
    unsigned long size = 0;
    if (std::sscanf(line.c_str(), "%d %d %o %lu", &key, &segment, &mode, &size) == 4 &&
        size == kSegmentBytes) {
      shmctl(segment, IPC_RMID, nullptr);
    }
  }
}

bool MountedAt(const std::string& path) {
  return FileText("/proc/self/mountinfo").find(" " + path + " ") != std::string::npos;
}

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
  return "/dev/kmsg";
}

// The first disk or partition that the kernel knows; empty when there is none.
std::string FirstDisk() {
  std::ifstream partitions("/proc/partitions");
  for (std::string line; std::getline(partitions, line);) {
    std::array<char, 64> name = {};
    if (std::sscanf(line.c_str(), "%*u %*u %*u %63s", name.data()) == 1) return name.data();
  }
  return {};
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

Scene::Scene(Stage stage)
    : stage_(stage),
      secret_("S" + RandomHex(14)),  // a process name holds 15 characters
      cookie_("C" + RandomHex(14)) {
  std::array<char, 65> name = {};
  gethostname(name.data(), name.size() - 1);
  host_name_ = name.data();
}

Result<std::unique_ptr<Scene>> Scene::Create(Stage stage) {
  std::unique_ptr<Scene> scene(new Scene(stage));
  TRY(scene->MakeFolder());
  if (stage == Stage::kCage) {
    const auto part = [] {
      return std::to_string(20 + std::stoul(RandomHex(2), nullptr, 16) % 200);
    };
    scene->secret_address_ = "10." + part() + "." + part() + "." + part();
    TRY(AddLoopbackAddress(scene->secret_address_));
  } else {
    scene->secret_address_ = OuterAddress();
  }
  TRY(scene->MakeListeners());
  TRY(scene->MakeIpc());
  TRY(scene->MakeTerminal());
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  syscall(SYS_add_key, "user", scene->cookie_.c_str(), scene->secret_.data(), scene->secret_.size(),
          KEY_SPEC_SESSION_KEYRING);
  scene->victim_.emplace(TRY(Victim::Start(scene->secret_, scene->folder_)));
  TRY(scene->Reset());
  TRY(scene->MakeLeaks());
  return scene;
}

Scene::~Scene() {
  KillSurvivors();
  while (MountedAt(Path("folder")) && umount2(Path("folder").c_str(), MNT_DETACH) == 0) {
  }
  RemoveTraces(cookie_);
  if (!disk_file_.empty()) unlink(disk_file_.c_str());
  mq_unlink(("/" + cookie_).c_str());
  if (ipc_segment_ >= 0) shmctl(ipc_segment_, IPC_RMID, nullptr);
  if (ipc_queue_ >= 0) msgctl(ipc_queue_, IPC_RMID, nullptr);
  if (ipc_semaphore_ >= 0) semctl(ipc_semaphore_, 0, IPC_RMID);
  close(kLeakedFileFd);
  close(kLeakedFolderFd);
  // One thread, as when it was set. NOLINTNEXTLINE(concurrency-mt-unsafe)
  unsetenv(kMarkerVariable);
  std::error_code error;
  if (stage_ == Stage::kHost && !folder_.empty()) fs::remove_all(folder_, error);
}

Status Scene::MakeFolder() {
  disk_file_ = "/var/tmp/glovebox-audit-" + RandomHex(12);
  Put(disk_file_, secret_);
  disk_handle_ = HandleOf(disk_file_);
  if (stage_ == Stage::kCage) {
    folder_ = kHostFolder;
    mkdir(Path("mounted").c_str(), 0755);
    return {};
  }
  // Not /tmp: a jail that has its own would hide the rest of the host's files that it shows.
  char folder[] = "/var/tmp/glovebox-audit-XXXXXX";
  if (mkdtemp(folder) == nullptr) return Error::FromErrno("making a folder in /var/tmp", errno);
  folder_ = folder;
  chmod(folder, 0755);
  return {};
}

Status Scene::MakeListeners() {
  listeners_.push_back(TRY(ListenTcp(AF_INET, tcp_port_)));
  if (Result<Listener> six = ListenTcp(AF_INET6, tcp6_port_); six.ok()) {
    listeners_.push_back(std::move(*six));
  }
  listeners_.push_back(TRY(ListenUdp(udp_port_)));
  listeners_.push_back(TRY(ListenUnix(Path("socket"), SOCK_STREAM)));
  listeners_.push_back(TRY(ListenUnix(Path("datagrams"), SOCK_DGRAM)));
  listeners_.push_back(TRY(ListenUnix(std::string("\0", 1) + cookie_, SOCK_STREAM)));
  listeners_.push_back(TRY(ListenUnix(std::string("\0", 1) + cookie_ + "-d", SOCK_DGRAM)));
  resolver_ = TRY(ListenUdp(dns_port_));
  // For the program that listens. Below the ports that the kernel gives to those who connect:
  // knocking at one of those can connect a socket with itself.
  for (int attempt = 0; attempt < 100; ++attempt) {
    listen_port_ = static_cast<std::uint16_t>(20'000 + (getpid() + attempt * 7) % 10'000);
    if (!CanConnect(listen_port_)) return {};
  }
  return Error(Errc::kSystem, "no free port between 20000 and 30000");
}

Status Scene::MakeIpc() {
  for (int attempt = 0; attempt < 100 && ipc_segment_ < 0; ++attempt) {
    ipc_key_ = 0x6b000000 | ((getpid() + attempt) & 0xffff);
    ipc_segment_ = shmget(ipc_key_, 4096, IPC_CREAT | IPC_EXCL | 0666);
  }
  ipc_queue_ = msgget(ipc_key_, IPC_CREAT | IPC_EXCL | 0666);
  ipc_semaphore_ = semget(ipc_key_, 1, IPC_CREAT | IPC_EXCL | 0666);
  mq_attr attributes = {};
  attributes.mq_maxmsg = 4;
  attributes.mq_msgsize = 64;
  const mode_t mask = umask(0);
  mq_ = mq_open(("/" + cookie_).c_str(), O_CREAT | O_RDWR | O_NONBLOCK | O_CLOEXEC, 0666,
                &attributes);
  umask(mask);
  if (ipc_segment_ < 0 || ipc_queue_ < 0 || ipc_semaphore_ < 0 || mq_ < 0) {
    return Error::FromErrno("making System V and POSIX objects", errno);
  }
  void* segment = shmat(ipc_segment_, nullptr, 0);
  std::snprintf(static_cast<char*>(segment), 64, "%s", secret_.c_str());
  shmdt(segment);
  return {};
}

// Deliberately not close-on-exec.
Status Scene::MakeLeaks() {
  const UniqueFd file(open(Path("secret").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (dup3(file.get(), kLeakedFileFd, 0) < 0 || dup3(folder.get(), kLeakedFolderFd, 0) < 0) {
    return Error::FromErrno("opening what must not be inherited", errno);
  }
  // One thread: before there is any executor. NOLINTNEXTLINE(concurrency-mt-unsafe)
  setenv(kMarkerVariable, secret_.c_str(), 1);
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
  while (MountedAt(Path("folder")) && umount2(Path("folder").c_str(), MNT_DETACH) == 0) {
  }
  if (stage_ == Stage::kCage) {
    if (!MountedAt(Path("mounted"))) mount("cage", Path("mounted").c_str(), "tmpfs", 0, "size=4k");
    if (sethostname("cage", 4) != 0) return Error::FromErrno("sethostname", errno);
    host_name_ = "cage";
  }
  TRY(Fill());
  fingerprint_ = Fingerprint();
  box_answered_ = false;
  KillSurvivors();
  RemoveTraces(cookie_);
  victim_->Reset();
  // A normal user can take a process's privileges away, and not give them back.
  if (victim_->Harm()) victim_.emplace(TRY(Victim::Start(secret_, folder_)));
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

Status Scene::Fill() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    // The leaked descriptor stays that of the file by its name.
    if (name == "mounted" || name == "socket" || name == "datagrams" || name == "secret") continue;
    fs::remove_all(entry.path(), error);
  }
  if (FileText(Path("secret")) != secret_) Put(Path("secret"), secret_);
  handle_ = HandleOf(Path("secret"));
  Put(Path("canary"), "canary\n");
  Put(Path("sized"), std::string(kSizedFileBytes, 's'));
  Put(Path("module.py"), "SECRET = '" + secret_ + "'\n");
  Put(Path("named-" + secret_), "");
  fs::create_symlink(secret_, Path("link"), error);
  fs::create_directory(Path("folder"), error);
  fs::create_directory(Path("open"), error);
  chmod(Path("open").c_str(), 01777);
  if (error) return Error::FromErrno("filling " + folder_, error.value());
  return {};
}

Bindings Scene::Globals(const std::string& nonce, const std::string& tag) const {
  static const std::string device = HarmlessDevice();
  struct stat info = {};
  if (stat(device.c_str(), &info) != 0) {
    info.st_mode = S_IFCHR;
    info.st_rdev = makedev(1, 11);  // the kernel's log
  }
  return {{"nonce", nonce},
          {"tag", tag},
          {"cookie", cookie_},
          {"marker_variable", kMarkerVariable},
          {"leaked_file", std::uint64_t{kLeakedFileFd}},
          {"leaked_folder", std::uint64_t{kLeakedFolderFd}},
          {"launcher_uid", std::uint64_t{geteuid()}},
          {"host_dir", folder_},
          {"secret_path", Path("secret")},
          {"canary_path", Path("canary")},
          {"scratch_same_fs", Path("open")},
          {"expected_size", std::uint64_t{kSizedFileBytes}},
          {"handle", handle_},
          {"disk_handle", disk_handle_},
          {"device_path", device},
          {"device_mode", std::uint64_t{info.st_mode & S_IFMT}},
          {"device_major", std::uint64_t{major(info.st_rdev)}},
          {"device_minor", std::uint64_t{minor(info.st_rdev)}},
          {"tcp_port", std::uint64_t{tcp_port_}},
          {"tcp6_port", std::uint64_t{tcp6_port_}},
          {"udp_port", std::uint64_t{udp_port_}},
          {"dns_port", std::uint64_t{dns_port_}},
          {"listen_port", std::uint64_t{listen_port_}},
          {"secret_address", secret_address_},
          {"unix_path", Path("socket")},
          {"unix_datagram_path", Path("datagrams")},
          {"abstract_name", cookie_},
          {"abstract_datagram_name", cookie_ + "-d"},
          {"key_name", cookie_},
          {"victim_pid", static_cast<std::uint64_t>(victim_->pid())},
          {"victim_fd", std::uint64_t{kVictimFd}},
          {"victim_address", victim_->secret_address()},
          {"victim_scribble", victim_->scribble_address()},
          {"tty_path", terminal_path_},
          {"ipc_key", static_cast<std::uint64_t>(ipc_key_)},
          {"mq_name", cookie_},
          {"cgroup_file", stage_ == Stage::kCage ? CageLimitFile() : OwnLimitFile()},
          {"sysfs_file", FirstExisting({"/sys/kernel/mm/ksm/run", "/sys/kernel/profiling",
                                        "/sys/kernel/uevent_helper",
                                        "/sys/kernel/mm/transparent_hugepage/enabled",
                                        "/sys/module/printk/parameters/time"})},
          {"memory_wanted", kMemoryWantedBytes},
          {"sysv_size", kSegmentBytes},
          {"far_wanted", kFarWantedBytes},
          {"processes_wanted", std::uint64_t{kProcessesWanted}},
          {"disk_wanted", kDiskWantedBytes},
          {"inodes_wanted", std::uint64_t{kInodesWanted}},
          {"descriptors_wanted", std::uint64_t{kDescriptorsWanted}}};
}

std::string Scene::Fact(std::string_view probe) const {
  const auto first_line = [](const char* path) {
    const std::string text = FileText(path);
    return text.substr(0, text.find('\n'));
  };
  if (probe == "leak_host_name") return host_name_;
  if (probe == "leak_machine_id") return first_line("/etc/machine-id");
  if (probe == "leak_boot_id") return first_line("/proc/sys/kernel/random/boot_id");
  if (probe == "leak_kernel_command_line") return first_line("/proc/cmdline");
  if (probe == "leak_firmware") return first_line("/sys/class/dmi/id/product_name");
  if (probe == "leak_interfaces") return OuterInterface();
  if (probe == "leak_disks") return FirstDisk();
  if (probe == "leak_listening_ports") {
    std::array<char, 8> digits = {};
    std::snprintf(digits.data(), digits.size(), "%04X", static_cast<unsigned>(tcp_port_));
    return digits.data();
  }
  return {};
}

std::string Scene::Fingerprint() const {
  std::vector<std::string> lines;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    struct stat info = {};
    if (lstat(entry.path().c_str(), &info) != 0) continue;
    std::array<char, 128> numbers = {};
    std::snprintf(numbers.data(), numbers.size(), " %o %u %u %lu %ld ", info.st_mode, info.st_uid,
                  info.st_gid, info.st_nlink, static_cast<long>(info.st_blocks));
    std::string line = entry.path().string() + numbers.data();
    if (S_ISREG(info.st_mode)) line += std::to_string(info.st_mtime) + FileText(entry.path());
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
  AnswerNames();
  if (std::exchange(resolver_asked_, false)) heard = "the host's resolver was asked";
  return heard;
}

std::optional<std::string> Scene::MountsChanged() const {
  if (MountedAt(Path("folder"))) return "a mount appeared on the host";
  if (stage_ == Stage::kCage && !MountedAt(Path("mounted"))) {
    return "a mount vanished from the host";
  }
  return std::nullopt;
}

std::optional<std::string> Scene::HostNameChanged() const {
  std::array<char, 65> name = {};
  gethostname(name.data(), name.size() - 1);
  if (host_name_ == name.data()) return std::nullopt;
  return std::string("the host is now called ") + name.data();
}

std::optional<std::string> Scene::LeftBehind(const std::string& tag) const {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* home = std::getenv("HOME");
  for (const std::string folder : {"/tmp", "/var/tmp", "/dev/shm", home == nullptr ? "/" : home}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().filename().string().find(tag) == std::string::npos) continue;
      const std::string found = entry.path();
      fs::remove_all(entry.path(), error);
      return found + " is on the host";
    }
  }
  return std::nullopt;
}

std::uint32_t Scene::Tasks() const {
  if (stage_ == Stage::kCage) return CageTasks();
  std::uint32_t tasks = 0;
  for (const pid_t pid : ProcessesNamed(cookie_)) {
    struct stat info = {};
    if (stat(("/proc/" + std::to_string(pid) + "/task").c_str(), &info) == 0) {
      tasks += static_cast<std::uint32_t>(info.st_nlink - 2);
    }
  }
  return tasks;
}

std::uint64_t Scene::MemoryBytes() const {
  if (stage_ == Stage::kCage) return CageMemoryBytes();
  // Shares, not resident sizes: forks have most of their pages together.
  std::uint64_t kilobytes = 0;
  for (const pid_t pid : ProcessesNamed(cookie_)) {
    const std::string text = FileText("/proc/" + std::to_string(pid) + "/smaps_rollup");
    const std::size_t at = text.find("\nPss:");
    unsigned long long share = 0;
    if (at != std::string::npos && std::sscanf(text.c_str() + at, "\nPss: %llu", &share) == 1) {
      kilobytes += share;
    }
  }
  return kilobytes << 10;
}

void Scene::AnswerNames() {
  if (AnswerName(resolver_)) resolver_asked_ = true;
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

}  // namespace glovebox::audit

#include "sandbox/parent/cgroup.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/text.h"

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kCpuPeriodUs = 100'000;

constexpr std::string_view kBranchPrefix = "glovebox-";

std::string BranchOf(const std::string& place, std::uint32_t index) {
  return place + "/" + std::string(kBranchPrefix) + std::to_string(index);
}

std::uint64_t ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const std::string_view trimmed = Trim(text);
  std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  return number;
}

std::vector<std::string> DistinctDirectories(const std::vector<ControllerPlace>& places) {
  std::vector<std::string> out;
  for (const ControllerPlace& place : places) {
    if (std::find(out.begin(), out.end(), place.directory) == out.end()) {
      out.push_back(place.directory);
    }
  }
  return out;
}

// Whether nobody was inside whom we can name.
bool KillInside(const std::string& directory) {
  const std::string procs = ReadFile(directory + "/cgroup.procs").value_or("");
  bool empty = true;
  for (const std::string_view line : Split(procs, '\n')) {
    const auto pid = static_cast<pid_t>(ParseNumber(line));
    if (pid <= 0) continue;
    empty = false;
    ::kill(pid, SIGKILL);
  }
  if (empty) return true;
  const std::string kill_file = directory + "/cgroup.kill";  // v2 only: the kernel's own loop
  if (::access(kill_file.c_str(), W_OK) == 0) static_cast<void>(WriteExisting(kill_file, "1"));
  return false;
}

// Kills until nothing is inside. A dying process stays listed until it is reaped, so this waits.
bool KillUntilEmpty(const std::vector<std::string>& directories) {
  for (int attempt = 0; attempt < 400; ++attempt) {
    bool empty = true;
    for (const std::string& directory : directories) {
      empty = KillInside(directory) && empty;
    }
    if (empty) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

void RemoveDirectory(const std::string& directory) {
  // The last process may be gone from the list and not yet from the group: EBUSY for a moment.
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (::rmdir(directory.c_str()) == 0 || errno != EBUSY) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// What a killed server left: kill, then remove, deepest first.
void Sweep(const std::string& branch) {
  std::vector<std::string> slots;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(branch, error)) {
    if (entry.is_directory(error)) slots.push_back(entry.path().string());
  }
  KillUntilEmpty(slots);
  for (const std::string& slot : slots) RemoveDirectory(slot);
  RemoveDirectory(branch);
}

Status MakeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0) return Error::FromErrno("making cgroup " + path, errno);
  return {};
}

// CLONE_INTO_CGROUP asks whether the cloner may write to this file.
Status LetBeBorn(const std::string& directory, std::optional<uid_t> zygote) {
  const std::string file = directory + "/cgroup.procs";
  if (!zygote || ::chown(file.c_str(), *zygote, static_cast<gid_t>(-1)) == 0) return {};
  return Error::FromErrno("giving " + file + " to the zygote", errno);
}

Result<UniqueFd> OpenFor(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) return Error::FromErrno("opening " + path, errno);
  return fd;
}

// "MAJOR:MINOR" of every disk that holds something.
std::vector<std::string> Disks() {
  std::vector<std::string> disks;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/sys/block", error)) {
    const std::string folder = entry.path().string();
    if (ParseNumber(ReadFile(folder + "/size").value_or("")) == 0) continue;
    const std::string number = ReadFile(folder + "/dev").value_or("");
    if (!number.empty()) disks.emplace_back(Trim(number));
  }
  return disks;
}

Result<UniqueFd> WatchOom(const std::string& directory) {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return Error::FromErrno("eventfd", errno);
  const UniqueFd watched = TRY(OpenFor(directory + "/memory.oom_control", O_RDONLY));
  const std::string line = std::to_string(event.get()) + " " + std::to_string(watched.get());
  TRY(WriteExisting(directory + "/cgroup.event_control", line));
  return event;
}

}  // namespace

std::string CgroupSlot::File(std::string_view controller, std::string_view name) const {
  for (const ControllerPlace& place : places_) {
    if (place.controller == controller) return place.directory + "/" + std::string(name);
  }
  return {};
}

Result<CgroupSlot::Counter> CgroupSlot::OpenCounter(std::string_view controller,
                                                    std::string_view file,
                                                    std::string_view key) const {
  // To be reset, if the kernel can do that.
  Result<UniqueFd> opened = OpenFor(File(controller, file), O_RDWR);
  if (!opened) opened = OpenFor(File(controller, file), O_RDONLY);
  return Counter{TRY(std::move(opened)), std::string(key)};
}

Status CgroupSlot::OpenCounters() {
  if (IsV2("memory")) {
    // Linux before 5.19 has no peak; it is zero there.
    auto peak = OpenCounter("memory", "memory.peak", "");
    if (peak) peak_ = std::move(*peak);
    oom_kills_ = TRY(OpenCounter("memory", "memory.events", "oom_kill"));
  } else {
    peak_ = TRY(OpenCounter("memory", "memory.max_usage_in_bytes", ""));
    oom_kills_ = TRY(OpenCounter("memory", "memory.oom_control", "oom_kill"));
  }
  if (IsV2("cpu")) {
    cpu_us_ = TRY(OpenCounter("cpu", "cpu.stat", "usage_usec"));
  } else if (!File("cpuacct", "").empty()) {
    cpu_ns_ = TRY(OpenCounter("cpuacct", "cpuacct.usage", ""));
  }
  processes_ = TRY(OpenCounter("pids", "pids.current", ""));
  processes_refused_ = TRY(OpenCounter("pids", "pids.events", "max"));
  return {};
}

std::string_view CgroupSlot::Counter::Text(std::span<char> buffer) const {
  const ssize_t got = file ? ::pread(file.get(), buffer.data(), buffer.size(), 0) : 0;
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::uint64_t CgroupSlot::Counter::Read() const {
  std::array<char, 2048> buffer;
  const std::string_view text = Text(buffer);
  if (key.empty()) return ParseNumber(text);
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
      return ParseNumber(line.substr(key.size() + 1));
    }
  }
  return 0;
}

// "tasks" and not "cgroup.procs": a thread that moves only itself needs no lock, while moving a
// whole process waits for an RCU grace period, some 15 ms.
Status CgroupSlot::OpenJoin(const std::string& directory) {
  if (std::find(joined_.begin(), joined_.end(), directory) != joined_.end()) return {};
  joined_.push_back(directory);
  join_owned_.push_back(TRY(OpenFor(directory + "/tasks", O_WRONLY)));
  join_fds_.push_back(join_owned_.back().get());
  return {};
}

bool CgroupSlot::IsV2(std::string_view controller) const {
  return std::any_of(places_.begin(), places_.end(), [&](const ControllerPlace& place) {
    return place.controller == controller && place.version == CgroupVersion::kV2;
  });
}

Status CgroupSlot::SetMemory(std::uint64_t bytes) {
  const std::string value = std::to_string(bytes);
  if (IsV2("memory")) {
    TRY(WriteExisting(File("memory", "memory.max"), value));
    const std::string swap = File("memory", "memory.swap.max");
    if (::access(swap.c_str(), W_OK) == 0) TRY(WriteExisting(swap, "0"));
    return {};
  }
  // memory+swap may never be below memory: which one moves first depends on the direction.
  const std::string memory = File("memory", "memory.limit_in_bytes");
  const std::string with_swap = File("memory", "memory.memsw.limit_in_bytes");
  const bool counts_swap = ::access(with_swap.c_str(), W_OK) == 0;
  if (!counts_swap) {
    TRY(WriteExisting(memory, value));
    return WriteExisting(File("memory", "memory.swappiness"), "0");
  }
  if (WriteExisting(memory, value)) return WriteExisting(with_swap, value);
  TRY(WriteExisting(with_swap, value));
  return WriteExisting(memory, value);
}

// Whole disks: the kernel has no limits for partitions.
Status CgroupSlot::SetIo(std::uint64_t bytes_per_second) {
  const std::string rate = std::to_string(bytes_per_second);
  for (const std::string& disk : Disks()) {
    if (IsV2("io")) {
      TRY(WriteExisting(File("io", "io.max"), disk + " rbps=" + rate + " wbps=" + rate));
      continue;
    }
    for (const char* file : {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"}) {
      TRY(WriteExisting(File("blkio", file), disk + " " + rate));
    }
  }
  return {};
}

Status CgroupSlot::SetLimits(const CgroupLimits& limits) {
  if (in_force_ == limits) return {};
  in_force_.reset();
  TRY(WriteLimits(limits));
  in_force_ = limits;
  return {};
}

Status CgroupSlot::WriteLimits(const CgroupLimits& limits) {
  TRY(SetMemory(limits.memory_bytes_max));
  if (limits.io_bytes_per_second_max > 0) TRY(SetIo(limits.io_bytes_per_second_max));
  TRY(WriteExisting(File("pids", "pids.max"), std::to_string(limits.processes_max)));
  if (File("cpu", "").empty()) return {};
  const std::string quota = std::to_string(static_cast<int>(limits.cpus_max * kCpuPeriodUs));
  if (IsV2("cpu")) {
    return WriteExisting(File("cpu", "cpu.max"), quota + " " + std::to_string(kCpuPeriodUs));
  }
  const std::string quota_file = File("cpu", "cpu.cfs_quota_us");
  if (::access(quota_file.c_str(), W_OK) != 0) return {};  // a kernel without CFS bandwidth
  return WriteExisting(quota_file, quota);
}

Status CgroupSlot::Prepare(const CgroupLimits& limits) {
  TRY(SetLimits(limits));
  if (IsV2("memory")) {
    TRY(WriteExisting(File("memory", "memory.oom.group"), "1"));
  }
  ResetPeak();
  return {};
}

Status CgroupSlot::Adopt(pid_t pid) const {
  for (const std::string& directory : directories_) {
    const bool v1 = std::find(joined_.begin(), joined_.end(), directory) != joined_.end();
    TRY(WriteExisting(directory + (v1 ? "/tasks" : "/cgroup.procs"), std::to_string(pid)));
  }
  return {};
}

std::uint64_t CgroupSlot::MemoryNow() const {
  const char* name = IsV2("memory") ? "memory.current" : "memory.usage_in_bytes";
  return ParseNumber(ReadFile(File("memory", name)).value_or(""));
}

std::uint32_t CgroupSlot::ProcessesNow() const {
  return static_cast<std::uint32_t>(processes_.Read());
}

// On v2 writing resets the peak from Linux 6.12 on, for this descriptor; before, it cannot be
// reset.
void CgroupSlot::ResetPeak() const {
  if (peak_.file) static_cast<void>(::pwrite(peak_.file.get(), "0", 1, 0) == 1);
}

CgroupUsage CgroupSlot::RawCounts() const {
  CgroupUsage usage;
  usage.oom_kills = oom_kills_.Read();
  if (cpu_us_) usage.cpu_us = cpu_us_->Read();
  if (cpu_ns_) usage.cpu_us = cpu_ns_->Read() / 1000;
  usage.processes_refused = processes_refused_.Read();
  return usage;
}

CgroupUsage CgroupSlot::Usage() const {
  CgroupUsage usage = RawCounts();
  usage.memory_peak_bytes = peak_.Read();
  usage.cpu_us -= std::min(start_.cpu_us, usage.cpu_us);
  usage.oom_kills -= std::min(start_.oom_kills, usage.oom_kills);
  usage.processes_refused -= std::min(start_.processes_refused, usage.processes_refused);
  return usage;
}

void CgroupSlot::LiftCpuLimit() {
  in_force_.reset();
  const std::string file = File("cpu", IsV2("cpu") ? "cpu.max" : "cpu.cfs_quota_us");
  // On failure the box dies all the same, a little later.
  if (!file.empty()) static_cast<void>(WriteExisting(file, IsV2("cpu") ? "max" : "-1"));
}

// The kernel counts who is inside, the dead included until they are reaped. Only its own word is
// taken: a file that cannot be read says nothing.
bool CgroupSlot::IsEmpty() const {
  std::array<char, 64> buffer;
  return Trim(processes_.Text(buffer)) == "0";
}

// Who is in one hierarchy is in the first, and is counted: all are joined before anybody is forked,
// what is forked is born where its parent is, and nobody in a box can move.
bool CgroupSlot::KillAll() const {
  return IsEmpty() || KillInside(directories_.front()) || KillUntilEmpty(directories_);
}

CgroupSlot::~CgroupSlot() {
  if (directories_.empty()) return;  // moved from
  KillAll();
  for (const std::string& directory : directories_) RemoveDirectory(directory);
}

void SweepBranches(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) Sweep(directory);
}

std::vector<std::string> CgroupTree::BranchesOf(const CgroupLayout& layout, std::uint32_t index) {
  std::vector<std::string> branches = DistinctDirectories(layout.places);
  for (std::string& branch : branches) branch = BranchOf(branch, index);
  return branches;
}

Result<CgroupTree> CgroupTree::Create(const CgroupLayout& layout, std::uint32_t index,
                                      std::optional<uid_t> zygote) {
  for (const std::string_view needed : {"memory", "pids"}) {
    if (layout.Find(needed) == nullptr) {
      return Error(Errc::kUnsupported, "this host has no '" + std::string(needed) +
                                           "' cgroup controller, which the limits need");
    }
  }
  CgroupTree tree;
  tree.places_ = layout.places;
  for (ControllerPlace& place : tree.places_) place.directory = BranchOf(place.directory, index);
  tree.directories_ = DistinctDirectories(tree.places_);
  for (const std::string& directory : tree.directories_) {
    TRY(MakeDirectory(directory));
  }
  for (const ControllerPlace& place : tree.places_) {
    if (place.version != CgroupVersion::kV2) continue;
    const std::string enable = "+" + place.controller;
    const std::string parent = fs::path(place.directory).parent_path().string();
    TRY(WriteExisting(parent + "/cgroup.subtree_control", enable));
    TRY(WriteExisting(place.directory + "/cgroup.subtree_control", enable));
    if (!tree.zygote_directory_.empty()) continue;
    TRY(LetBeBorn(place.directory, zygote));
    TRY(MakeDirectory(place.directory + "/zygotes"));
    tree.zygote_directory_ = place.directory + "/zygotes";
  }
  tree.zygote_ = zygote;
  return tree;
}

std::string CgroupTree::zygote_file() const {
  return zygote_directory_.empty() ? "" : zygote_directory_ + "/cgroup.procs";
}

CgroupTree::~CgroupTree() {
  if (!directories_.empty() && !zygote_directory_.empty()) RemoveDirectory(zygote_directory_);
  for (const std::string& directory : directories_) RemoveDirectory(directory);
}

Result<CgroupSlot> CgroupTree::MakeSlot(std::uint32_t number) const {
  CgroupSlot slot;
  slot.places_ = places_;
  for (ControllerPlace& place : slot.places_) place.directory += "/box-" + std::to_string(number);
  for (const std::string& directory : DistinctDirectories(slot.places_)) {
    TRY(MakeDirectory(directory));
    slot.directories_.push_back(directory);
  }
  for (const ControllerPlace& place : slot.places_) {
    if (place.version == CgroupVersion::kV1) {
      TRY(slot.OpenJoin(place.directory));
    } else if (!slot.birth_) {
      TRY(LetBeBorn(place.directory, zygote_));
      slot.birth_ = TRY(OpenFor(place.directory, O_RDONLY | O_DIRECTORY));
    }
  }
  if (!slot.IsV2("memory")) {
    const fs::path oom_control = slot.File("memory", "memory.oom_control");
    slot.oom_event_ = TRY(WatchOom(oom_control.parent_path().string()));
  }
  TRY(slot.OpenCounters());
  return slot;
}

}  // namespace glovebox::sandbox

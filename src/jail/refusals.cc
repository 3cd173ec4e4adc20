#include "jail/refusals.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>
#include <utility>

namespace glovebox::jail {
namespace {

namespace fs = std::filesystem;
using Use = Judge::Use;

// How the path of an observed call is made up, and what the call does to it.
struct PathCall {
  std::string_view call;
  int folder;  // the argument with the folder's descriptor; -1: the current one
  Use use;
  int flags = -1;  // the argument with open flags, which decide about writing
};
constexpr PathCall kPathCalls[] = {
    {"openat", 0, Use::kRead, 2},  {"open", -1, Use::kRead, 1},   {"creat", -1, Use::kWrite},
    {"stat", -1, Use::kRead},      {"newfstatat", 0, Use::kRead}, {"statx", 0, Use::kRead},
    {"mkdir", -1, Use::kWrite},    {"mkdirat", 0, Use::kWrite},   {"rmdir", -1, Use::kWrite},
    {"unlink", -1, Use::kWrite},   {"unlinkat", 0, Use::kWrite},  {"rename", -1, Use::kWrite},
    {"renameat", 2, Use::kWrite},  {"renameat2", 2, Use::kWrite}, {"link", -1, Use::kWrite},
    {"linkat", 2, Use::kWrite},    {"symlink", -1, Use::kWrite},  {"symlinkat", 1, Use::kWrite},
    {"truncate", -1, Use::kWrite}, {"chmod", -1, Use::kWrite},    {"fchmodat", 0, Use::kWrite},
    {"execve", -1, Use::kRun},     {"execveat", 0, Use::kRun},
};

// Who opens these looks up the name of a host; granting the files would not help it.
constexpr std::string_view kResolverFile = "/etc/resolv.conf";
constexpr std::string_view kHostNameOrder = "/etc/host.conf";

std::string ReadLink(const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  const ssize_t got = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return got <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(got));
}

// Nearly every path is normal as it is, and taking one apart costs more than all else here.
std::string Normal(const std::string& path) {
  const bool plain = path.find("//") == std::string::npos && path.find("/.") == std::string::npos;
  return plain ? path : fs::path(path).lexically_normal().string();
}

// The path that a call names, as the box sees it; empty when it cannot be told.
std::string PathOf(const PathCall& shape, const sandbox::CallAttempt& attempt) {
  const std::string& text = attempt.target;
  if (text.empty() || text[0] == '<') return {};
  if (text[0] == '/') return Normal(text);
  const std::string process = "/proc/" + std::to_string(attempt.pid);
  const int folder =
      shape.folder < 0
          ? AT_FDCWD
          : static_cast<int>(attempt.arguments[static_cast<std::size_t>(shape.folder)]);
  const std::string base =
      ReadLink(folder == AT_FDCWD ? process + "/cwd" : process + "/fd/" + std::to_string(folder));
  if (base.empty() || base[0] != '/') return {};
  return (fs::path(base) / text).lexically_normal().string();
}

bool Opens(const PathCall& shape, const sandbox::CallAttempt& attempt, int flag) {
  if (shape.flags < 0) return false;
  const auto flags = static_cast<int>(attempt.arguments[static_cast<std::size_t>(shape.flags)]);
  return (flags & flag) != 0;
}

bool ExistsOnHost(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0;
}

std::string_view Word(Use use) {
  switch (use) {
    case Use::kRead: return "read";
    case Use::kWrite: return "write";
    case Use::kRun: return "run";
  }
  return "use";
}

}  // namespace

std::string Refusal::Text() const {
  std::string text = act + (target.empty() ? "" : " " + target);
  if (!rule.empty()) text += ": " + rule;
  return text + "; " + (remedy.starts_with("--") ? "allow with " + remedy : remedy);
}

Result<std::shared_ptr<RefusalLog>> RefusalLog::Make() {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return Error::FromErrno("noting refusals", errno);
  return std::shared_ptr<RefusalLog>(new RefusalLog(std::move(event)));
}

void RefusalLog::Add(Refusal refusal) {
  refusal.when = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  ++count_;
  if (said_.size() < kRefusalsSaid && said_.insert(refusal.act + " " + refusal.target).second) {
    fresh_.push_back(refusal);
    const std::uint64_t one = 1;
    // Full only when nobody reads, and then there is nothing to wake.
    static_cast<void>(!::write(event_.get(), &one, sizeof(one)));
  }
  kept_.push_back(std::move(refusal));
  if (kept_.size() > kRefusalsKept) kept_.pop_front();
}

std::vector<Refusal> RefusalLog::TakeNew() {
  const std::lock_guard lock(mutex_);
  std::uint64_t ignored = 0;
  static_cast<void>(!::read(event_.get(), &ignored, sizeof(ignored)));
  return std::exchange(fresh_, {});
}

std::vector<Refusal> RefusalLog::Since(std::chrono::steady_clock::time_point when) const {
  const std::lock_guard lock(mutex_);
  std::vector<Refusal> out;
  for (const Refusal& refusal : kept_) {
    if (refusal.when < when) continue;
    const bool known = std::any_of(out.begin(), out.end(), [&](const Refusal& other) {
      return other.act == refusal.act && other.target == refusal.target;
    });
    if (!known) out.push_back(refusal);
  }
  return out;
}

std::uint64_t RefusalLog::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::optional<Refusal> Judge::JudgePath(const std::string& path, Use use,
                                        const std::string& box_root) const {
  // What the kernel shows of itself is never the host's to grant, and every runtime looks there.
  for (const char* folder : {"/proc", "/sys", "/dev"}) {
    if (IsWithin(path, folder)) return std::nullopt;
  }
  const Place* place = options_.places.Find(path);
  if (place == nullptr && path == kResolverFile) return NameLookUp();
  if (place == nullptr && path == kHostNameOrder) return std::nullopt;
  Refusal refusal;
  refusal.act = Word(use);
  refusal.target = path;
  if (place == nullptr) {
    // Only what would have worked outside was refused.
    const std::string there =
        use == Use::kWrite && !ExistsOnHost(path) ? fs::path(path).parent_path().string() : path;
    if (there == "/" || !ExistsOnHost(there)) return std::nullopt;
    // A folder on the way to something that is shown.
    const auto& all = options_.places.all();
    const bool on_the_way = std::any_of(
        all.begin(), all.end(), [&](const Place& other) { return IsWithin(other.path, path); });
    if (on_the_way && use == Use::kRead) return std::nullopt;
    refusal.rule = "no grant shows it";
    refusal.remedy = (use == Use::kWrite ? "--write " : "--read ") + there;
    return refusal;
  }
  switch (place->kind) {
    case PlaceKind::kRefused:
      refusal.rule = "sensitive, " + place->why;
      refusal.remedy = "--allow-sensitive " + place->path;
      return refusal;
    case PlaceKind::kRuntime:
    case PlaceKind::kProgram:
    case PlaceKind::kRead:
      if (use != Use::kWrite) return std::nullopt;
      refusal.rule = "it is read-only (" + place->why + ")";
      refusal.remedy =
          "--write " + (ExistsOnHost(path) ? path : fs::path(path).parent_path().string());
      return refusal;
    case PlaceKind::kWrite:
      if (use != Use::kRun || !ExistsOnHost(path)) return std::nullopt;
      refusal.rule = "nothing runs from a folder that can be written";
      refusal.remedy = "--read " + path;
      return refusal;
    case PlaceKind::kOwn:
      if (use != Use::kWrite || !place->path.starts_with("/etc/")) return std::nullopt;
      refusal.rule = "it is the jail's own file";
      refusal.remedy = "nothing allows it";
      return refusal;
    case PlaceKind::kPrivate: break;
  }
  // The host has such a folder too, and what lies there is not shown: /tmp.
  if (use == Use::kWrite || box_root.empty() || path == place->path || !ExistsOnHost(path) ||
      ExistsOnHost(box_root + path)) {
    return std::nullopt;
  }
  refusal.rule = "no grant shows it";
  refusal.remedy = "--read " + path;
  return refusal;
}

Refusal Judge::NameLookUp() const {
  Refusal refusal;
  refusal.act = "look up a name";
  refusal.rule = "there is no name service in a jail";
  refusal.remedy = options_.has_network
                       ? "programs reach granted hosts through HTTP_PROXY, which is set; "
                         "others with --net HOST"
                       : "--net HOST";
  return refusal;
}

std::optional<Refusal> Judge::JudgeAddress(const std::string& address) const {
  if (address.empty() || address[0] == '<') return std::nullopt;
  if (address.starts_with("unix:") || !address.ends_with(":53")) {
    const bool loopback = address.starts_with("127.") || address.starts_with("[::1]");
    if (options_.has_network && loopback) return std::nullopt;
  }
  // How libraries find out which of their addresses would be used; nothing is sent.
  if (address.ends_with(":0")) return std::nullopt;
  Refusal refusal;
  refusal.act = "connect to";
  refusal.target = address;
  if (address.ends_with(":53")) return NameLookUp();
  refusal.rule = options_.has_network ? "there is no way out but the proxy in HTTP_PROXY"
                                      : "no host was granted";
  refusal.remedy = "--net HOST";
  return refusal;
}

void Judge::Observed(const sandbox::CallAttempt& attempt) {
  std::optional<Refusal> refusal;
  if (attempt.call == "connect") {
    refusal = JudgeAddress(attempt.target);
  } else {
    const auto shape = std::find_if(std::begin(kPathCalls), std::end(kPathCalls),
                                    [&](const PathCall& one) { return one.call == attempt.call; });
    if (shape == std::end(kPathCalls)) return;
    const bool writes = Opens(*shape, attempt, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC);
    const std::string path = PathOf(*shape, attempt);
    if (path.empty()) return;
    refusal = JudgePath(path, writes ? Use::kWrite : shape->use,
                        "/proc/" + std::to_string(attempt.pid) + "/root");
  }
  if (refusal) log_->Add(std::move(*refusal));
}

void Judge::Refused(const sandbox::CallAttempt& attempt, Event event) {
  // Questions that libraries ask at every start and do without: they say nothing about a program.
  if (attempt.call == "setsockopt" || attempt.call == "ioctl" || attempt.call == "prctl" ||
      attempt.call == "openat2" || attempt.call.starts_with("io_uring") ||
      attempt.call.starts_with("landlock") || event.target.starts_with("AF_NETLINK")) {
    return;
  }
  Refusal refusal;
  refusal.act = event.operation;
  refusal.target = event.target;
  refusal.rule = event.rule.substr(0, event.rule.find(". "));
  refusal.remedy = "nothing allows it in a jail";
  if (attempt.call == "socket") {
    refusal.rule =
        event.target.starts_with("AF_UNIX")
            ? "services of the host are reached that way (Docker, agents, the name cache)"
            : "a network namespace holds IP, and not what this would reach";
  }
  log_->Add(std::move(refusal));
}

}  // namespace glovebox::jail

#include "sandbox/parent/leftovers.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "sandbox/parent/cgroup.h"

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNotePrefix = "range-";

std::string NotePath(const std::string& lock_folder, std::uint32_t index) {
  return lock_folder + "/" + std::string(kNotePrefix) + std::to_string(index);
}

// The ranges that have a note.
std::vector<std::uint32_t> NotedRanges(const std::string& lock_folder) {
  std::vector<std::uint32_t> indexes;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(lock_folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kNotePrefix)) continue;
    std::uint32_t index = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + kNotePrefix.size(), end, index);
    if (parsed.ec == std::errc() && parsed.ptr == end && index < kUidRangeCount) {
      indexes.push_back(index);
    }
  }
  return indexes;
}

Status Sweep(const std::string& lock_folder, const UidRange& range) {
  TRY(KillLeftovers(range));
  const std::string path = NotePath(lock_folder, range.index());
  const std::string note = ReadFile(path).value_or("");
  std::vector<std::string> directories;
  for (const std::string_view line : Split(note, '\n')) {
    if (!line.empty()) directories.emplace_back(line);
  }
  SweepBranches(directories);
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<HostNote> HostNote::Write(const std::string& lock_folder, const UidRange& range,
                                 const std::vector<std::string>& cgroup_directories) {
  std::string text;
  for (const std::string& directory : cgroup_directories) text += directory + "\n";
  const std::string path = NotePath(lock_folder, range.index());
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Error::FromErrno("writing " + path, errno);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return Error::FromErrno("writing " + path, errno);
  }
  return HostNote(path);
}

HostNote::~HostNote() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status SweepDeadServers(const std::string& lock_folder, const UidRange& ours) {
  for (const std::uint32_t index : NotedRanges(lock_folder)) {
    if (index == ours.index()) {
      TRY(Sweep(lock_folder, ours));
      continue;
    }
    const Result<UidRange> dead = UidRange::TakeIndex(lock_folder, index);
    if (dead) TRY(Sweep(lock_folder, *dead));  // otherwise it is alive
  }
  return {};
}

}  // namespace glovebox::sandbox

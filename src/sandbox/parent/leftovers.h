#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/parent/uid_range.h"

namespace glovebox::sandbox {

// What a server has made on the host besides processes: a note in its lock folder, written before
// the directories exist and removed after they are gone. A note whose uid range nobody holds is
// that of a server that was killed.
class HostNote {
 public:
  static Result<HostNote> Write(const std::string& lock_folder, const UidRange& range,
                                const std::vector<std::string>& cgroup_directories);
  HostNote(HostNote&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  HostNote& operator=(HostNote&&) = delete;
  ~HostNote();

 private:
  explicit HostNote(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Ends what killed servers left: processes under their uids, cgroups they noted, and the notes.
// `ours` is the range this server holds, whose earlier holder is gone as well.
Status SweepDeadServers(const std::string& lock_folder, const UidRange& ours);

}  // namespace glovebox::sandbox

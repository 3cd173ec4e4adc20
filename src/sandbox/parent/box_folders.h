#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox::sandbox {

// What the boxes of one server may write where they have no mounts of their own: a folder per box
// in memory (/dev/shm, else /tmp), for nobody else. Gone with the object; what a killed server left
// is removed by the next one of the same user.
class BoxFolders {
 public:
  // `parent`: where; empty for the host's usual place. Sweeps first.
  static Result<BoxFolders> Create(const std::string& parent = "");

  BoxFolders(BoxFolders&&) = default;
  BoxFolders& operator=(BoxFolders&&) = delete;
  ~BoxFolders();

  // An empty folder for the box in place `number`, with `work` and `tmp` in it, `owner`'s.
  Result<std::string> Make(std::uint32_t number, uid_t owner);

  // Removes it with everything in it, however deep. Precondition: the box is dead.
  void Remove(std::uint32_t number);

 private:
  BoxFolders(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;  // this server's own folder
  UniqueFd lock_;     // held while we live: who can take it may remove the folder
};

// What lies in a box's folder.
struct FolderUse {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  bool complete = true;  // false: too many entries, too deep, or not to be looked into
};
inline constexpr std::uint64_t kFolderEntriesMax = 16'384;
inline constexpr int kFolderDepthMax = 32;

// Looks through it; bounded by the constants above. The box may be alive and change it meanwhile:
// no link is followed.
FolderUse MeasureFolder(int folder_fd);

}  // namespace glovebox::sandbox

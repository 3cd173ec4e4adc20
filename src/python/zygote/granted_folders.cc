#include "python/zygote/granted_folders.h"

#include <algorithm>
#include <utility>

namespace glovebox::zygote {
namespace {

bool Holds(std::string_view folder, std::string_view path) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool AnyHolds(const std::vector<std::string>& folders, std::string_view path) {
  return std::any_of(folders.begin(), folders.end(),
                     [path](const std::string& folder) { return Holds(folder, path); });
}

// "/a/./b/../c" is "/a/c".
std::string Normal(std::string_view path, std::string_view here) {
  std::string whole;
  if (!path.starts_with('/')) whole = std::string(here) + "/";
  whole += path;
  std::string normal;
  for (std::size_t at = 0; at <= whole.size();) {
    const std::size_t end = std::min(whole.find('/', at), whole.size());
    const std::string_view part = std::string_view(whole).substr(at, end - at);
    if (part == "..") {
      normal.resize(std::min(normal.rfind('/'), normal.size()));
    } else if (!part.empty() && part != ".") {
      normal += '/';
      normal += part;
    }
    at = end + 1;
  }
  return normal.empty() ? "/" : normal;
}

}  // namespace

GrantedFolders::GrantedFolders(std::vector<std::string> readable, std::vector<std::string> writable)
    : readable_(std::move(readable)), writable_(std::move(writable)) {}

bool GrantedFolders::Allows(std::string_view path, std::string_view here, bool writes) const {
  if (readable_.empty()) return true;
  const std::string normal = Normal(path, here);
  return AnyHolds(writable_, normal) || (!writes && AnyHolds(readable_, normal));
}

bool GrantedFolders::InWritable(std::string_view path) const { return AnyHolds(writable_, path); }

GrantedFolders GrantedBy(const wire::ZygoteSetup& setup) {
  constexpr std::uint64_t kWriteFile = 1ull << 1;  // LANDLOCK_ACCESS_FS_WRITE_FILE
  std::vector<std::string> readable;
  std::vector<std::string> writable;
  for (const auto& [path, rights] : setup.landlock.rules) {
    readable.push_back(path);
    if ((rights & kWriteFile) != 0) writable.push_back(path);
  }
  return GrantedFolders(std::move(readable), std::move(writable));
}

}  // namespace glovebox::zygote

#include "container/layer_tree.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "base/unique_fd.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr mode_t kSetIds = S_ISUID | S_ISGID;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() == fs::file_type::directory;
}

bool IsThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Result<std::vector<std::string>> NamesIn(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return Error::FromErrno("listing " + folder.string(), error.value());
  return names;
}

Status Remove(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return Error::FromErrno("removing " + path.string(), error.value());
  return {};
}

Status Move(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return Error::FromErrno("moving " + from.string() + " to " + to.string(), errno);
}

// What the layers below had goes before what this one has comes: a name may be in both.
Status ApplyWhiteouts(const std::vector<std::string>& names, const fs::path& layer,
                      const fs::path& root) {
  for (const std::string& name : names) {
    if (!name.starts_with(kWhiteout)) continue;
    if (name == kOpaque) {
      for (const std::string& below : TRY(NamesIn(root))) TRY(Remove(root / below));
    } else {
      const std::string gone = name.substr(kWhiteout.size());
      if (gone.empty() || gone == "." || gone == "..") {
        return Error(Errc::kInvalidArgument,
                     (layer / name).string() + ": a whiteout must name something of its folder");
      }
      TRY(Remove(root / gone));
    }
    TRY(Remove(layer / name));
  }
  return {};
}

Status CopyMode(const fs::path& from, const fs::path& to) {
  struct stat facts = {};
  if (::lstat(from.c_str(), &facts) == 0 && ::chmod(to.c_str(), facts.st_mode & 07777) == 0) {
    return {};
  }
  return Error::FromErrno(to.string(), errno);
}

// A folder of the layer, not yet looked at, and what it is laid over.
struct Pair {
  fs::path layer;
  fs::path root;
};

// Moves what is in one folder; those that are in both are left for later.
Status ApplyFolder(const Pair& pair, std::vector<Pair>& later) {
  const std::vector<std::string> names = TRY(NamesIn(pair.layer));
  TRY(ApplyWhiteouts(names, pair.layer, pair.root));
  for (const std::string& name : names) {
    if (name.starts_with(kWhiteout)) continue;
    const fs::path from = pair.layer / name;
    const fs::path to = pair.root / name;
    if (IsFolder(from)) {
      if (!IsFolder(to)) {
        TRY(Remove(to));
        if (::mkdir(to.c_str(), 0755) != 0) return Error::FromErrno(to.string(), errno);
      }
      TRY(CopyMode(from, to));
      later.push_back({from, to});
      continue;
    }
    if (IsThere(to)) TRY(Remove(to));
    TRY(Move(from, to));
  }
  return {};
}

Status MakeEntryHarmless(const fs::path& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0) return Error::FromErrno(path.string(), errno);
  if (S_ISLNK(facts.st_mode)) return {};
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return Remove(path);
  const mode_t taken = kSetIds | kOthersWrite;
  if ((facts.st_mode & taken) == 0) return {};
  if (::chmod(path.c_str(), facts.st_mode & 07777 & ~taken) == 0) return {};
  return Error::FromErrno(path.string(), errno);
}

// Opens a folder as a process would whose root `root_fd` is.
UniqueFd OpenInRoot(int root_fd, const std::string& path) {
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, root_fd, path.c_str(), &how, sizeof(how))));
}

}  // namespace

Status ApplyLayer(const std::string& layer, const std::string& root) {
  std::vector<Pair> later = {{layer, root}};
  while (!later.empty()) {
    const Pair pair = std::move(later.back());
    later.pop_back();
    TRY(ApplyFolder(pair, later));
  }
  for (const std::string& name : TRY(NamesIn(layer))) TRY(Remove(fs::path(layer) / name));
  return {};
}

Status MakeHarmless(const std::string& root) {
  std::vector<fs::path> folders = {root};
  while (!folders.empty()) {
    const fs::path folder = std::move(folders.back());
    folders.pop_back();
    TRY(MakeEntryHarmless(folder));
    for (const std::string& name : TRY(NamesIn(folder))) {
      if (IsFolder(folder / name)) {
        folders.push_back(folder / name);
      } else {
        TRY(MakeEntryHarmless(folder / name));
      }
    }
  }
  return {};
}

Status MakePlace(const std::string& root, const std::string& path, PlaceKind kind) {
  const auto failed = [&] { return Error::FromErrno("making " + path + " in " + root, errno); };
  const UniqueFd root_fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root_fd) return failed();
  std::vector<std::string> names;
  for (const std::string_view name : Split(path, '/')) {
    if (!name.empty()) names.emplace_back(name);
  }
  std::string above = "/";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const UniqueFd folder = OpenInRoot(root_fd.get(), above);
    if (!folder) return failed();
    const char* name = names[i].c_str();
    if (kind == PlaceKind::kFile && i + 1 == names.size()) {
      const UniqueFd made(
          ::openat(folder.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
      if (!made && errno != EEXIST) return failed();
    } else if (::mkdirat(folder.get(), name, 0755) == 0) {
      // Not as the umask has it: others are to go through.
      if (::fchmodat(folder.get(), name, 0755, 0) != 0) return failed();
    } else if (errno != EEXIST) {
      return failed();
    }
    above += names[i];
    above += '/';
  }
  return {};
}

}  // namespace glovebox::container

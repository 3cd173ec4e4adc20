#include "container/root_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "base/unique_fd.h"
#include "container/layer_tree.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;
using sandbox::RootEntry;
using sandbox::RootEntryKind;

std::span<const RootEntry> Entries(const sandbox::RootPlan& plan) {
  return {plan.entries, plan.entry_count};
}

Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return Error::FromErrno("making " + path, errno);
}

Status MakeFile(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) return Error::FromErrno("making " + path, errno);
  const ssize_t put = ::write(file.get(), text.data(), text.size());
  if (put == static_cast<ssize_t>(text.size())) return {};
  return Error::FromErrno("writing " + path, put < 0 ? errno : ENOSPC);
}

Status MakeMountPoint(const std::string& path, const std::string& source) {
  std::error_code ignored;
  return fs::is_directory(source, ignored) ? MakeFolder(path) : MakeFile(path, {});
}

bool IsBind(const RootEntry& entry) {
  return entry.kind == RootEntryKind::kBind || entry.kind == RootEntryKind::kWritableBind;
}

BindMount BindOf(const RootEntry& entry) {
  return {
      std::string(entry.text, entry.text_length), std::string("/") + entry.target,
      entry.kind == RootEntryKind::kWritableBind || entry.kind == RootEntryKind::kWritableGrant};
}

// Something that nobody but root may open, to cover what lies at a place.
Result<std::string> MakeCover(const std::string& folder, RootEntryKind kind) {
  const bool covers_folder = kind == RootEntryKind::kNoFolder;
  std::string cover = folder + (covers_folder ? ".no-folder" : ".no-file");
  if (::access(cover.c_str(), F_OK) == 0) return cover;
  TRY(covers_folder ? MakeFolder(cover) : MakeFile(cover, {}));
  if (::chmod(cover.c_str(), 0) != 0) return Error::FromErrno("making " + cover, errno);
  return cover;
}

Status MakeEntry(const RootEntry& entry, ContainerRoot& root) {
  const std::string path = root.folder + "/" + entry.target;
  const std::string text(entry.text != nullptr ? entry.text : "", entry.text_length);
  // Runtimes fill /dev themselves.
  if (std::string_view(entry.target).starts_with("dev/")) return {};
  switch (entry.kind) {
    case RootEntryKind::kDirectory:
    case RootEntryKind::kProc: return MakeFolder(path);
    case RootEntryKind::kFile: return MakeFile(path, text);
    case RootEntryKind::kSymlink:
      if (::symlink(text.c_str(), path.c_str()) == 0) return {};
      return Error::FromErrno("making " + path, errno);
    case RootEntryKind::kBind:
    case RootEntryKind::kWritableBind:
    case RootEntryKind::kGrant:
    case RootEntryKind::kWritableGrant:
      root.binds.push_back(BindOf(entry));
      return MakeMountPoint(path, text);
    case RootEntryKind::kTmpfs: return MakeFolder(path);
    case RootEntryKind::kNoFolder:
    case RootEntryKind::kNoFile: {
      const std::string cover = TRY(MakeCover(root.folder, entry.kind));
      root.binds.push_back({cover, std::string("/") + entry.target, false});
      return MakeMountPoint(path, cover);
    }
    case RootEntryKind::kDevice:
    case RootEntryKind::kHostProc: return {};
  }
  return Error(Errc::kInternal, path + ": such an entry is no part of a container's root");
}

}  // namespace

Result<ContainerRoot> MakeHostRoot(const sandbox::RootPlan& plan, const std::string& folder) {
  TRY(MakeFolder(folder));
  ContainerRoot root{folder, {}};
  for (const RootEntry& entry : Entries(plan)) TRY(MakeEntry(entry, root));
  return root;
}

Result<ContainerRoot> MakeImageRoot(const sandbox::RootLayout& layout, const Image& image,
                                    const std::vector<std::string>& targets,
                                    const std::string& stdlib) {
  std::error_code ignored;
  if (!fs::is_directory(image.folder + stdlib, ignored)) {
    return Error(Errc::kInvalidArgument,
                 "the image " + image.folder + " has no " + stdlib +
                     ", the standard library of the Python that Glovebox was built with: build "
                     "one with `make build-sandbox`");
  }
  ContainerRoot root{image.folder, {}};
  for (const RootEntry& entry : Entries(layout.plan())) {
    if (!IsBind(entry)) continue;
    BindMount bind = BindOf(entry);
    if (std::find(targets.begin(), targets.end(), bind.target) == targets.end()) continue;
    if (image.ours) {
      const bool folder = fs::is_directory(bind.source, ignored);
      TRY(MakePlace(image.folder, bind.target, folder ? PlaceKind::kFolder : PlaceKind::kFile));
    } else if (!fs::exists(image.folder + bind.target, ignored)) {
      return Error(Errc::kInvalidArgument, "the image " + image.folder + " has no " + bind.target +
                                               ", where something is to be mounted: build one "
                                               "with `make build-sandbox`, or make it there");
    }
    root.binds.push_back(std::move(bind));
  }
  return root;
}

}  // namespace glovebox::container

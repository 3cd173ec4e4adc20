#include "jail/layout.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "sandbox/compile/landlock_rules.h"
#include "sandbox/parent/owned_mount.h"

namespace glovebox::jail {
namespace {

namespace fs = std::filesystem;
using sandbox::PathProof;
using sandbox::RootEntryKind;

bool IsFolder(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsLink(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

const policy::RootItem* ItemAt(const policy::BoxPolicy& box, const std::string& path) {
  const auto found = std::find_if(box.root.begin(), box.root.end(),
                                  [&](const auto& item) { return item.path == path; });
  return found == box.root.end() ? nullptr : &*found;
}

}  // namespace

const char* Layout::Keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

void Layout::Add(RootEntryKind kind, const std::string& path, const std::string& text,
                 UniqueFd prepared) {
  const auto length = static_cast<std::uint32_t>(text.size());
  entries_.push_back({kind, Keep(path.substr(1)), Keep(text), length, prepared.get()});
  if (prepared) mounts_.push_back(std::move(prepared));
}

// Makes the folders on the way to `path`, where they are ours to make.
void Layout::AddParents(const std::string& path, const Places& places) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    const Place* place = places.Find(parent);
    const bool ours =
        place == nullptr || (place->kind == PlaceKind::kPrivate && place->path != parent);
    if (!ours || std::find(made_.begin(), made_.end(), parent) != made_.end()) continue;
    made_.push_back(parent);
    Add(RootEntryKind::kDirectory, parent, "");
  }
}

Status Layout::AddGrant(const Place& place, const LayoutOptions& options) {
  const bool writable = place.kind == PlaceKind::kWrite;
  UniqueFd prepared;
  if (options.box_host_uid != 0) {
    auto mount = sandbox::CloneTreeFor(place.path, options.box_host_uid);
    if (!mount) return std::move(mount).error().Within(place.why);
    prepared = std::move(*mount);
  }
  Add(writable ? RootEntryKind::kWritableGrant : RootEntryKind::kGrant, place.path, place.path,
      std::move(prepared));
  probes_.push_back({Keep(place.path), writable ? PathProof::kWritable : PathProof::kReadOnly});
  probe_reasons_.push_back(place.why);
  return {};
}

Status Layout::AddRoot(const Places& places, const policy::BoxPolicy& box,
                       const LayoutOptions& options) {
  for (const Place& place : places.all()) {
    AddParents(place.path, places);
    const policy::RootItem* item = ItemAt(box, place.path);
    switch (place.kind) {
      case PlaceKind::kRuntime: Add(RootEntryKind::kBind, place.path, place.path); break;
      case PlaceKind::kOwn:
        if (item->kind == policy::RootItemKind::kDevice) {
          Add(RootEntryKind::kDevice, place.path, place.path);
        } else if (item->kind == policy::RootItemKind::kFile) {
          Add(RootEntryKind::kFile, place.path, item->text);
        } else if (item->kind == policy::RootItemKind::kLink) {
          Add(RootEntryKind::kSymlink, place.path, item->text);
        } else if (IsLink(place.path)) {
          std::error_code error;
          const fs::path target = fs::read_symlink(place.path, error);
          if (!error) Add(RootEntryKind::kSymlink, place.path, target.string());
        }
        break;
      case PlaceKind::kPrivate: {
        const auto tmpfs = std::find_if(box.tmpfs.begin(), box.tmpfs.end(),
                                        [&](const auto& one) { return one.path == place.path; });
        Add(RootEntryKind::kTmpfs, place.path, std::to_string(tmpfs->size_bytes));
        break;
      }
      case PlaceKind::kProgram:
      case PlaceKind::kRead:
      case PlaceKind::kWrite: TRY(AddGrant(place, options)); break;
      case PlaceKind::kRefused:
        Add(IsFolder(place.path) ? RootEntryKind::kNoFolder : RootEntryKind::kNoFile, place.path,
            "");
        probes_.push_back({Keep(place.path), PathProof::kRefused});
        probe_reasons_.push_back(place.why);
        break;
    }
  }
  for (const auto& [name, target] : places.links()) {
    AddParents(name, places);
    Add(RootEntryKind::kSymlink, name, target);
  }
  Add(RootEntryKind::kProc, "/proc", "");
  return {};
}

Status Layout::AddLandlock(const Places& places, const LayoutOptions& options) {
  const int abi = sandbox::LandlockAbi();
  if (abi < 1) {
    return Error(Errc::kUnsupported,
                 "this kernel has no Landlock (needs Linux 5.13 with lsm=landlock)");
  }
  for (const std::string& what : sandbox::MissingWithLandlockAbi(abi)) {
    missing_.push_back("Landlock ABI " + std::to_string(abi) + " does not cover " + what);
  }
  const auto rule = [&](const std::string& path, sandbox::LandlockUse use, bool folder) {
    rules_.push_back({Keep(path), sandbox::LandlockRights(abi, use, folder)});
  };
  rule("/", sandbox::LandlockUse::kList, true);
  for (const Place& place : places.all()) {
    switch (place.kind) {
      case PlaceKind::kRuntime:
      case PlaceKind::kProgram:
      case PlaceKind::kRead:
        rule(place.path, sandbox::LandlockUse::kExecute, IsFolder(place.path));
        break;
      case PlaceKind::kWrite:
        rule(place.path, sandbox::LandlockUse::kWrite, IsFolder(place.path));
        break;
      case PlaceKind::kPrivate: rule(place.path, sandbox::LandlockUse::kOwn, true); break;
      case PlaceKind::kOwn:
        if (place.path.starts_with("/dev/") && !IsLink(place.path)) {
          rule(place.path, sandbox::LandlockUse::kDevice, false);
        }
        break;
      case PlaceKind::kRefused: break;
    }
  }
  rule("/etc", sandbox::LandlockUse::kRead, true);
  rule("/proc", sandbox::LandlockUse::kRead, true);
  const sandbox::LandlockMasks masks = sandbox::MasksForAbi(abi);
  connect_ports_ = options.connect_ports;
  landlock_ = {masks.fs,
               masks.net,
               masks.scoped,
               rules_.data(),
               static_cast<std::uint16_t>(rules_.size()),
               connect_ports_.data(),
               static_cast<std::uint16_t>(connect_ports_.size())};
  return {};
}

Result<std::unique_ptr<Layout>> Layout::Build(const Places& places, const policy::BoxPolicy& box,
                                              const LayoutOptions& options) {
  std::unique_ptr<Layout> layout(new Layout());
  TRY(layout->AddRoot(places, box, options));
  TRY(layout->AddLandlock(places, options));
  layout->source_fds_.assign(layout->entries_.size(), -1);
  layout->root_ = {layout->entries_.data(), static_cast<std::uint16_t>(layout->entries_.size()),
                   layout->source_fds_.data(), layout->Keep(options.tmpfs_owner)};
  return layout;
}

std::string Layout::DescribeEntry(std::size_t index) const {
  return index < entries_.size() ? "/" + std::string(entries_[index].target) : "an unknown entry";
}

std::string Layout::DescribeProbe(std::size_t index, int sys_errno) const {
  if (index >= probes_.size()) return "an unknown probe failed";
  const std::string path = probes_[index].path;
  const std::string& why = probe_reasons_[index];
  const std::string reason = Error::FromErrno("", sys_errno).message().substr(2);
  switch (probes_[index].proof) {
    case PathProof::kRefused: return why + " could be opened in the jail, which must not be";
    case PathProof::kWritable:
      return why + " cannot be written in the jail (" + reason + "): the file system of " + path +
             " or its permissions do not let this user";
    case PathProof::kReadable:
    case PathProof::kReadOnly: break;
  }
  if (sys_errno == ENOTRECOVERABLE) {
    return why + " could be written in the jail, which must not be";
  }
  return why + " cannot be read in the jail (" + reason + "): the permissions of " + path +
         " do not let this user";
}

}  // namespace glovebox::jail

#include "sandbox/compile/root_layout.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

}  // namespace

class RootLayoutBuilder {
 public:
  RootLayoutBuilder() { layout_.storage_ = std::make_unique<std::vector<RootLayout::Entry>>(); }

  void Add(RootEntryKind kind, const std::string& path, const std::string& text) {
    const std::string target = path.substr(1);
    AddParents(target);
    if (kind == RootEntryKind::kDirectory && !directories_.insert(target).second) return;
    layout_.storage_->push_back({kind, target, text});
  }

  Status AddItem(const policy::RootItem& item) {
    switch (item.kind) {
      case policy::RootItemKind::kFile: Add(RootEntryKind::kFile, item.path, item.text); return {};
      case policy::RootItemKind::kLink:
        Add(RootEntryKind::kSymlink, item.path, item.text);
        return {};
      case policy::RootItemKind::kLinksIn: return AddLinks(item);
      case policy::RootItemKind::kBind:
      case policy::RootItemKind::kDevice: break;
    }
    if (!Exists(item.source())) {
      if (item.optional) return {};
      return Error(Errc::kUnsupported,
                   "the box needs " + item.source() + ", which this host does not have");
    }
    RootEntryKind kind = RootEntryKind::kDevice;
    if (item.kind == policy::RootItemKind::kBind) {
      kind = item.writable ? RootEntryKind::kWritableBind : RootEntryKind::kBind;
    }
    Add(kind, item.path, item.source());
    return {};
  }

  RootLayout Finish() && {
    for (const RootLayout::Entry& entry : *layout_.storage_) {
      layout_.entries_.push_back({entry.kind, entry.target.c_str(), entry.text.c_str(),
                                  static_cast<std::uint32_t>(entry.text.size())});
    }
    layout_.source_fds_.assign(layout_.entries_.size(), -1);
    layout_.plan_.entries = layout_.entries_.data();
    layout_.plan_.entry_count = static_cast<std::uint16_t>(layout_.entries_.size());
    layout_.plan_.source_fds = layout_.source_fds_.data();
    return std::move(layout_);
  }

 private:
  void AddParents(const std::string& target) {
    for (std::size_t slash = target.find('/'); slash != std::string::npos;
         slash = target.find('/', slash + 1)) {
      const std::string parent = target.substr(0, slash);
      if (directories_.insert(parent).second) {
        layout_.storage_->push_back({RootEntryKind::kDirectory, parent, {}});
      }
    }
  }

  // Copies the links themselves, not what they lead to.
  Status AddLinks(const policy::RootItem& item) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(item.path, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(item.text) || !entry.is_symlink(error)) continue;
      const fs::path target = fs::read_symlink(entry.path(), error);
      if (!error) Add(RootEntryKind::kSymlink, item.path + "/" + name, target.string());
    }
    return {};  // a host without the directory has no such links
  }

  RootLayout layout_;
  std::set<std::string> directories_;
};

std::string RootLayout::Describe(std::size_t index) const {
  if (storage_ == nullptr || index >= storage_->size()) return "an unknown entry";
  static constexpr const char* kWords[] = {
      "directory", "file",       "link",      "bind",   "writable bind",
      "device",    "proc",       "host's",    "folder", "writable folder",
      "tmpfs",     "cover over", "cover over"};
  const Entry& entry = (*storage_)[index];
  return std::string(kWords[static_cast<std::size_t>(entry.kind)]) + " /" + entry.target;
}

Result<RootLayout> CompileRoot(const policy::BoxPolicy& policy, const RootExtras& extras) {
  RootLayoutBuilder builder;
  for (const policy::RootItem& item : policy.root) TRY(builder.AddItem(item));
  for (const policy::TmpfsItem& item : policy.tmpfs) {
    builder.Add(RootEntryKind::kDirectory, item.path, {});
  }
  if (!extras.program_source.empty()) {
    if (!Exists(extras.program_source)) {
      return Error(Errc::kUnsupported, extras.program_source + " does not exist");
    }
    builder.Add(RootEntryKind::kBind, extras.program_target, extras.program_source);
  }
  builder.Add(extras.proc, "/proc", extras.proc == RootEntryKind::kHostProc ? "/proc" : "");
  return std::move(builder).Finish();
}

}  // namespace glovebox::sandbox

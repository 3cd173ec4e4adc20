#include "sandbox/parent/cgroup_layout.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"

namespace glovebox::sandbox {
namespace {

constexpr std::array<std::string_view, 4> kControllers = {"memory", "pids", "cpu", "cpuacct"};
constexpr std::string_view kDisksV1 = "blkio";
constexpr std::string_view kDisksV2 = "io";

struct Mount {
  std::string root;
  std::string point;
  std::string type;
  std::string super_options;
};

// One line of mountinfo: "36 35 98:0 /root /point options optional... - type source super-options".
std::optional<Mount> ParseMount(std::string_view line) {
  const std::vector<std::string_view> fields = Split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 6 || fields.end() - dash < 4) return std::nullopt;
  return Mount{std::string(fields[3]), std::string(fields[4]), std::string(dash[1]),
               std::string(dash[3])};
}

std::vector<Mount> CgroupMounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : Split(mountinfo, '\n')) {
    std::optional<Mount> mount = ParseMount(line);
    if (mount && mount->type.starts_with("cgroup")) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

bool HasWord(std::string_view list, char separator, std::string_view word) {
  const std::vector<std::string_view> words = Split(list, separator);
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The path of our own group in the v1 hierarchy of `controller`.
std::string OwnV1Path(std::string_view self_cgroup, std::string_view controller) {
  for (const std::string_view line : Split(self_cgroup, '\n')) {
    const std::vector<std::string_view> fields = Split(line, ':');
    if (fields.size() >= 3 && HasWord(fields[1], ',', controller)) return std::string(fields[2]);
  }
  return "/";
}

// Our group as seen through a mount that may show only a part of the hierarchy.
std::string Below(const Mount& mount, const std::string& own_path) {
  std::string_view path = own_path;
  if (mount.root != "/") {
    if (!path.starts_with(mount.root)) return mount.point;
    path.remove_prefix(mount.root.size());
  }
  return path == "/" || path.empty() ? mount.point : mount.point + std::string(path);
}

CgroupTexts ReadTexts() {
  return {ReadFile("/proc/self/mountinfo").value_or(""),
          ReadFile("/proc/self/cgroup").value_or("")};
}

// "0::/user.slice/...", the line of the v2 hierarchy.
std::optional<std::string> OwnV2Path(std::string_view self_cgroup) {
  for (const std::string_view line : Split(self_cgroup, '\n')) {
    if (line.starts_with("0::")) return std::string(line.substr(3));
  }
  return std::nullopt;
}

bool IsDirectory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool Offers(const Mount& v1, std::string_view controller) {
  return v1.type == "cgroup" && HasWord(v1.super_options, ',', controller);
}

// The controllers of one v2 group, all in it.
void AddV2Places(const std::string& group, std::string_view controllers, CgroupLayout& layout) {
  if (!layout.disks && HasWord(Trim(controllers), ' ', kDisksV2)) {
    layout.disks = {std::string(kDisksV2), CgroupVersion::kV2, group};
  }
  for (const std::string_view controller : kControllers) {
    if (controller == "cpuacct" || !HasWord(Trim(controllers), ' ', controller)) continue;
    if (layout.Find(controller) != nullptr) continue;
    layout.places.push_back({std::string(controller), CgroupVersion::kV2, group});
  }
}

}  // namespace

const ControllerPlace* CgroupLayout::Find(std::string_view controller) const {
  const auto found = std::find_if(places.begin(), places.end(), [&](const ControllerPlace& place) {
    return place.controller == controller;
  });
  return found == places.end() ? nullptr : &*found;
}

std::optional<std::string> FindV2Mount(std::string_view mountinfo) {
  for (const Mount& mount : CgroupMounts(mountinfo)) {
    if (mount.type == "cgroup2") return mount.point;
  }
  return std::nullopt;
}

CgroupLayout ParseCgroupLayout(const CgroupTexts& texts, std::string_view v2_controllers) {
  CgroupLayout layout;
  const std::vector<Mount> mounts = CgroupMounts(texts.mountinfo);
  const std::optional<std::string> v2_mount = FindV2Mount(texts.mountinfo);
  const auto on_v1 = [&](std::string_view controller) -> std::optional<ControllerPlace> {
    for (const Mount& mount : mounts) {
      if (!Offers(mount, controller)) continue;
      return ControllerPlace{std::string(controller), CgroupVersion::kV1,
                             Below(mount, OwnV1Path(texts.self_cgroup, controller))};
    }
    return std::nullopt;
  };
  for (const std::string_view controller : kControllers) {
    if (auto place = on_v1(controller)) layout.places.push_back(std::move(*place));
  }
  layout.disks = on_v1(kDisksV1);
  if (v2_mount) AddV2Places(*v2_mount, v2_controllers, layout);
  return layout;
}

CgroupLayout DetectCgroupLayout() {
  const CgroupTexts texts = ReadTexts();
  const std::optional<std::string> v2_mount = FindV2Mount(texts.mountinfo);
  const std::string controllers =
      v2_mount ? ReadFile(*v2_mount + "/cgroup.controllers").value_or("") : "";
  return ParseCgroupLayout(texts, controllers);
}

std::optional<std::string> OwnV2Group(const CgroupTexts& texts) {
  const std::optional<std::string> path = OwnV2Path(texts.self_cgroup);
  if (!path) return std::nullopt;
  for (const Mount& mount : CgroupMounts(texts.mountinfo)) {
    if (mount.type == "cgroup2") return Below(mount, *path);
  }
  return std::nullopt;
}

CgroupLayout ParseDelegatedLayout(const CgroupTexts& texts, std::string_view group_controllers) {
  CgroupLayout layout;
  const std::optional<std::string> group = OwnV2Group(texts);
  // The root of the hierarchy is nobody's to give.
  if (!group || group == FindV2Mount(texts.mountinfo)) return layout;
  AddV2Places(*group, group_controllers, layout);
  if (layout.Find("memory") == nullptr || layout.Find("pids") == nullptr) return {};
  layout.own_v2_group = *group;
  return layout;
}

CgroupLayout DelegatedCgroupLayout() {
  const CgroupTexts texts = ReadTexts();
  const std::optional<std::string> group = OwnV2Group(texts);
  if (!group) return {};
  for (const char* file : {"", "/cgroup.procs", "/cgroup.subtree_control"}) {
    if (::access((*group + file).c_str(), W_OK) != 0) return {};
  }
  return ParseDelegatedLayout(texts, ReadFile(*group + "/cgroup.controllers").value_or(""));
}

Result<CgroupLayout> CgroupLayoutBelow(const std::string& parent) {
  CgroupLayout layout;
  const CgroupTexts texts = ReadTexts();
  if (!parent.starts_with("/")) {
    return Error(Errc::kInvalidArgument,
                 "a cgroup parent is an absolute path, such as /sys/fs/cgroup/glovebox");
  }
  for (const Mount& mount : CgroupMounts(texts.mountinfo)) {
    const bool named = parent.starts_with(mount.point + "/");
    const std::string group = named ? parent : mount.point + parent;
    if (!IsDirectory(group)) continue;
    if (mount.type == "cgroup2") {
      AddV2Places(group, ReadFile(group + "/cgroup.controllers").value_or(""), layout);
      if (group == OwnV2Group(texts)) layout.own_v2_group = group;
      continue;
    }
    for (const std::string_view controller : kControllers) {
      if (Offers(mount, controller) && layout.Find(controller) == nullptr) {
        layout.places.push_back({std::string(controller), CgroupVersion::kV1, group});
      }
    }
    if (Offers(mount, kDisksV1)) layout.disks = {std::string(kDisksV1), CgroupVersion::kV1, group};
  }
  for (const std::string_view needed : {"memory", "pids"}) {
    if (layout.Find(needed) != nullptr) continue;
    return Error(Errc::kInvalidArgument,
                 "--cgroup-parent " + parent + ": no such group has the '" + std::string(needed) +
                     "' controller; make it, and give it to this user with its controllers "
                     "(systemd: Delegate=memory pids cpu)");
  }
  return layout;
}

}  // namespace glovebox::sandbox

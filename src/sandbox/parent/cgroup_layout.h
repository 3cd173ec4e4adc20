#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace glovebox::sandbox {

enum class CgroupVersion { kV1, kV2 };

// Where one controller can be used: the directory under which we may make groups.
struct ControllerPlace {
  std::string controller;  // "memory", "pids", "cpu", "cpuacct"; for disks "blkio" or "io"
  CgroupVersion version = CgroupVersion::kV1;
  std::string directory;  // absolute
};

// Which controllers this host offers, hierarchy by hierarchy: v1, v2 and any mixture of the two.
struct CgroupLayout {
  std::vector<ControllerPlace> places;
  std::optional<ControllerPlace> disks = {};  // not among them: joining one more costs time
  // The group we are in ourselves, when that is where children are to be made: it must be left
  // first. Empty otherwise.
  std::string own_v2_group = {};

  const ControllerPlace* Find(std::string_view controller) const;
};

// The texts a layout is read from, so that hosts we are not on can be tested.
struct CgroupTexts {
  std::string mountinfo;    // /proc/self/mountinfo
  std::string self_cgroup;  // /proc/self/cgroup
};

// Reads the layout. A v1 controller's place is the group we are in; a v2 controller's is the root
// of the mount, because a group that holds processes (ours) cannot have children with controllers.
// `v2_controllers` is the content of the v2 mount's cgroup.controllers.
CgroupLayout ParseCgroupLayout(const CgroupTexts& texts, std::string_view v2_controllers);

// The v2 mount point named in `mountinfo`, if there is one.
std::optional<std::string> FindV2Mount(std::string_view mountinfo);

// The layout of this host.
CgroupLayout DetectCgroupLayout();

// What a normal user may use: our own v2 group, if it was given to us together with the memory and
// pids controllers. Empty otherwise. For the texts and for this host.
CgroupLayout ParseDelegatedLayout(const CgroupTexts& texts, std::string_view group_controllers);
CgroupLayout DelegatedCgroupLayout();

// Our own v2 group as a directory, if there is a v2 mount that shows it.
std::optional<std::string> OwnV2Group(const CgroupTexts& texts);

// Below a parent that the operator names: a directory of a v2 mount, or a group's path
// ("/glovebox") that is taken in every hierarchy.
Result<CgroupLayout> CgroupLayoutBelow(const std::string& parent);

}  // namespace glovebox::sandbox

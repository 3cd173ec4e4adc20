#pragma once

// From places to the plans of a child: the root it builds, the Landlock domain it enters, and what
// it proves before the program starts.

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "jail/places.h"
#include "policy/box_policy.h"
#include "sandbox/plan/jail_plan.h"

namespace glovebox::jail {

struct LayoutOptions {
  std::string tmpfs_owner;  // uid of the box in the user namespace that builds the root
  std::vector<std::uint16_t> connect_ports;  // TCP ports at which a way out listens
  // Where boxes have uids of their own: the one that granted files appear to belong to, if their
  // owner's they are. 0: their owner is who they are.
  uid_t box_host_uid = 0;
};

// Owns what the plans point into; stays where it is.
class Layout {
 public:
  static Result<std::unique_ptr<Layout>> Build(const Places& places, const policy::BoxPolicy& box,
                                               const LayoutOptions& options);
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  const sandbox::RootPlan& root() const { return root_; }
  const sandbox::LandlockPlan& landlock() const { return landlock_; }
  const std::vector<sandbox::PathProbe>& probes() const { return probes_; }
  // What this kernel's Landlock does not cover, for people.
  const std::vector<std::string>& missing() const { return missing_; }

  // For messages: what entry or probe `index` is.
  std::string DescribeEntry(std::size_t index) const;
  std::string DescribeProbe(std::size_t index, int sys_errno) const;

 private:
  Layout() = default;
  void Add(sandbox::RootEntryKind kind, const std::string& path, const std::string& text,
           UniqueFd prepared = UniqueFd());
  void AddParents(const std::string& path, const Places& places);
  Status AddRoot(const Places& places, const policy::BoxPolicy& box, const LayoutOptions& options);
  Status AddGrant(const Place& place, const LayoutOptions& options);
  Status AddLandlock(const Places& places, const LayoutOptions& options);
  const char* Keep(std::string text);

  std::deque<std::string> texts_;
  std::vector<UniqueFd> mounts_;
  std::vector<std::string> made_;
  std::vector<sandbox::RootEntry> entries_;
  std::vector<int> source_fds_;
  std::vector<sandbox::LandlockRule> rules_;
  std::vector<sandbox::PathProbe> probes_;
  std::vector<std::string> probe_reasons_;
  std::vector<std::string> missing_;
  std::vector<std::uint16_t> connect_ports_;
  sandbox::RootPlan root_;
  sandbox::LandlockPlan landlock_;
};

}  // namespace glovebox::jail

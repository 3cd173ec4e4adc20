#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "python/wire/zygote.h"
#include "sandbox/plan/child_plan.h"

namespace glovebox::zygote {

// Everything the boxes of this zygote have in common, as plans that point into `setup`, which must
// outlive it. Made once, before any fork.
class BoxTemplate {
 public:
  explicit BoxTemplate(const wire::ZygoteSetup& setup);

  // Opens what Landlock rules name, once for all boxes forked from here, except in what is mounted
  // anew in each.
  void OpenRulePaths();

  // The plan of one box, without its uid, cgroups and fresh mounts.
  const sandbox::BoxPlan& plan() const { return plan_; }
  const std::vector<wire::TmpfsSetup>& tmpfs() const { return tmpfs_; }

 private:
  const std::vector<wire::TmpfsSetup>& tmpfs_;
  std::vector<sandbox::LimitEntry> limits_;
  std::vector<sandbox::LandlockRule> rules_;
  std::vector<UniqueFd> rule_paths_;
  sandbox::BoxPlan plan_;
};

// The descriptors of one box, as they came with its SpawnBox message. Closed by the destructor.
struct BoxDescriptors {
  explicit BoxDescriptors(std::vector<int> received) : fds(std::move(received)) {}
  BoxDescriptors(const BoxDescriptors&) = delete;
  BoxDescriptors& operator=(const BoxDescriptors&) = delete;
  ~BoxDescriptors();

  // Before those of its cgroups.
  static std::size_t FixedCount(const wire::SpawnBox& spawn) { return spawn.network ? 6 : 5; }
  bool complete(const wire::SpawnBox& spawn) const {
    return fds.size() >= FixedCount(spawn) + (spawn.into_cgroup ? 1 : 0);
  }
  int stdin_fd() const { return fds[0]; }
  int stdout_fd() const { return fds[1]; }
  int stderr_fd() const { return fds[2]; }
  int gate_fd() const { return fds[3]; }
  int status_fd() const { return fds[4]; }
  int listener_socket_fd() const { return fds[5]; }  // with SpawnBox::network

  std::vector<int> fds;
};

// Makes a box: init, which forks Python, which waits at the gate. Returns a pidfd of init.
// Precondition: this process has one thread.
Result<UniqueFd> ForkBox(const BoxTemplate& common, const wire::SpawnBox& spawn,
                         const BoxDescriptors& descriptors);

}  // namespace glovebox::zygote

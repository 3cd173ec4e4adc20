#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/box_network.h"
#include "policy/box_policy.h"
#include "python/wire/zygote.h"
#include "sandbox/compile/root_layout.h"
#include "sandbox/parent/spawn.h"
#include "sandbox/parent/uid_range.h"
#include "sandbox/plan/host_mode.h"
#include "sandbox/plan/walls.h"

namespace glovebox::python {

// What one kind of box holds besides what every box does.
struct BoxContents {
  std::vector<std::string> preimports;
  std::vector<std::string> module_paths;  // of the host, read-only, on sys.path
  std::vector<policy::FolderGrant> folders;
  bool rehearse = false;    // see wire::Rehearsal
  std::uint8_t makers = 1;  // see wire::ZygoteSetup
  // Each box has such a network, whose listeners somebody serves.
  std::optional<policy::BoxNetwork> network = {};
};

// How the host holds every box, and whether a cgroup counts its memory.
struct BoxFooting {
  sandbox::HostMode mode;
  bool cgroups = true;
  bool container = false;  // an OCI runtime holds it
};

// Everything that is decided once about the boxes of one kind: the zygote's namespaces and root,
// and the set-up message it gets. Pure preparation; nothing is started here.
class BoxFactory {
 public:
  // Fails closed: a wall of `walls` that this host cannot raise is kUnsupported, with the reason.
  // `walls` are those that can stand in `footing.mode`.
  static Result<BoxFactory> Prepare(const std::string& zygote_program, const BoxContents& contents,
                                    sandbox::Walls walls, const BoxFooting& footing);

  // How to start a zygote whose first uid is `uids->base()` on the host, or, without a range, whose
  // only uid is ours.
  sandbox::SpawnRequest ZygoteSpawn(const std::optional<sandbox::UidRange>& uids) const;
  const wire::ZygoteSetup& setup() const { return setup_; }
  // What those boxes hold, for who builds their walls by other means.
  const policy::BoxPolicy& policy() const { return policy_; }
  const sandbox::RootLayout& root() const { return root_; }
  const std::string& program() const { return program_; }            // as named in that root
  const std::string& init_program() const { return init_program_; }  // glovebox-init, on the host
  // Lesser walls of this kernel that no box can have, for people; empty at full strength.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  BoxFactory(sandbox::Walls walls, sandbox::HostMode mode, policy::BoxPolicy policy,
             sandbox::RootLayout root)
      : walls_(walls), mode_(mode), policy_(std::move(policy)), root_(std::move(root)) {}

  sandbox::Walls walls_;
  sandbox::HostMode mode_;
  policy::BoxPolicy policy_;
  sandbox::RootLayout root_;
  std::string program_;  // the zygote, as named where it will run
  std::string init_program_;
  wire::ZygoteSetup setup_;
  std::vector<std::string> missing_;
};

}  // namespace glovebox::python

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/box_policy.h"
#include "policy/egress_policy.h"

namespace glovebox {

using policy::FolderGrant;

// Boxes that are alike before they get a request: what Python has imported in them, and what of the
// host they hold besides the runtime. Each kind has its own zygote and its own waiting boxes.
struct BoxKind {
  std::string name;  // as ExecutionRequest::kind names it
  // Modules its boxes find already imported.
  std::vector<std::string> preimports = {};
  // Folders of the host, read-only, before the machine's own packages on sys.path; .pth files in
  // them are not read.
  std::vector<std::string> module_paths = {};
  // A writable one must let the boxes' own uids write.
  std::vector<FolderGrant> folders = {};
  // Each box has a network of its own, out of which the egress leads to these hosts; without it,
  // there are no sockets.
  std::optional<policy::EgressPolicy> egress = {};
  // Kept locked and waiting; 0: made when asked for.
  std::uint32_t warm_boxes = 0;
};

// When a zygote makes room for the next, so that address layout and hash seed do not live for ever.
struct ZygoteLife {
  std::uint32_t boxes_max = 5000;  // 1: a fresh interpreter for every box
  std::chrono::seconds age_max = std::chrono::minutes(30);
};

}  // namespace glovebox

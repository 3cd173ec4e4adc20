#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {

// The server's ends of what lies between it and one box. Non-blocking.
struct ServerEnds {
  UniqueFd stdin_write;
  UniqueFd stdout_read;
  UniqueFd stderr_read;
  UniqueFd gate;
  UniqueFd status_read;
};

// The box's ends; closed here once the message that carries them is sent.
struct BoxEnds {
  UniqueFd stdin_read;
  UniqueFd stdout_write;
  UniqueFd stderr_write;
  UniqueFd gate;
  UniqueFd status_write;

  // In the order of wire::SpawnBox, followed by `cgroup_fds`.
  std::vector<int> List(const std::vector<int>& cgroup_fds) const;
};

struct BoxChannels {
  ServerEnds server;
  BoxEnds box;

  static Result<BoxChannels> Make();
};

}  // namespace glovebox

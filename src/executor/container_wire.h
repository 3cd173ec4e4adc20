#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {

// The wire to a container whose runtime passes no descriptors on: a socket with a name, in a folder
// that is mounted into the container and in nothing else of `uid`.

// Listens at `path`, where only `uid` (and root) may connect. Non-blocking.
Result<UniqueFd> ListenForContainer(const std::string& path, uid_t uid);

struct ContainerCall {
  UniqueFd socket;
  pid_t pid = -1;  // of who called, as the kernel tells it: the container's first process
};

// Who has called. kSystem with the reason if that is not `uid`, or is nobody whom we can see.
Result<ContainerCall> AcceptContainer(int listener_fd, uid_t uid);

}  // namespace glovebox

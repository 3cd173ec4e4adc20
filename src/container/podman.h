#pragma once

// Theory of operation. podman is asked to run one container of its own making, with a command that
// does not exist. Before it hands the configuration of that container to crun it asks a hook of
// ours ("precreate", man oci-hooks) to look over it, and the hook answers with our bundle's: what
// is started is what any other runtime starts. Should podman not ask, what it starts fails.
//
// What podman keeps is kept in a folder of one container, so that nothing has to be told podman
// when the container is gone: its processes (podman, conmon, crun) live and die in the cgroup of
// the box, its mounts in the namespace of the launcher, its records and locks with the folder.

#include <string>
#include <vector>

#include "container/state_folder.h"

namespace glovebox::container {

// The files below `home` that podman needs to start the container of `bundle`.
NamedTexts PodmanFiles(const std::string& home, const std::string& bundle);

// `podman` up to its command, everything of its own below `home`. It refuses a home of more than
// 48 characters.
std::vector<std::string> PodmanFront(const std::string& podman, const std::string& home);

// The command that starts container `id` and ends when it runs, if there is a `pid_file`, else when
// it has ended. Descriptor 3 is then the container's.
std::vector<std::string> PodmanRun(const std::string& home, const std::string& pid_file,
                                   const std::string& id);

}  // namespace glovebox::container

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "container/root_folder.h"
#include "policy/box_policy.h"

namespace glovebox::container {

// Host uids of a container that shares the host's kernel: those of its user namespace.
struct HostIds {
  uid_t root = 0;  // what its uid 0 is on the host; nothing runs as that once it is built
  uid_t box = 0;   // what the uid of its processes is
};

// One container, as its config.json says it.
struct BundleSpec {
  std::string id;  // also a label, with that of the server that made it
  std::string server;
  const ContainerRoot* root = nullptr;
  const policy::BoxPolicy* policy = nullptr;  // tmpfs, environment, limits
  std::vector<std::string> arguments;         // of its first process
  std::string work_folder;
  std::string host_name;
  bool own_kernel = false;     // gVisor: there is no filter and no user namespace to ask for
  std::optional<HostIds> ids;  // nothing: no user namespace
  std::uint32_t inner_uid = 1000;
  // Somebody else's program: it puts no filter on itself, and may run what it fetched into a tmpfs.
  bool foreign = false;
};

// The text of config.json (OCI runtime specification 1.0.2): a read-only root, no network, a user
// without capabilities and without a way to gain any, what the policy lets it write and use. What
// the limits on memory, processes and CPU are is the business of the cgroup it is started in.
std::string BundleConfiguration(const BundleSpec& spec);

// The list of system calls in it alone, for an engine that takes it as a file of its own; with the
// calls by which a container of ours reaches a socket that was mounted into it.
std::string FilterConfiguration();

// "RLIMIT_CORE"; nothing for a limit that the specification does not know.
const char* LimitName(int resource);

}  // namespace glovebox::container

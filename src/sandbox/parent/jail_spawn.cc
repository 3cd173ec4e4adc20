#include "sandbox/parent/jail_spawn.h"

#include "sandbox/child/jail_child.h"

namespace glovebox::sandbox {

Result<Process> CloneJail(std::uint64_t namespaces, int cgroup_fd, int ready_write_fd,
                          const JailPlan& plan) {
  return CloneChild(
      namespaces, ready_write_fd,
      [](const void* data) { JailChild(*static_cast<const JailPlan*>(data)); }, &plan, cgroup_fd);
}

}  // namespace glovebox::sandbox

#pragma once

#include <optional>
#include <string>

namespace glovebox::sandbox {

// What a host says of itself. Never proof that something works, only an explanation when it does
// not.
struct HostFacts {
  bool root = false;             // effective uid 0
  bool filtered = false;         // somebody put a system-call filter on us
  bool changed_root = false;     // our "/" is not that of process 1
  bool whole_uid_range = true;   // our user namespace maps every uid
  std::string kernel_release;    // "6.1.0-13-amd64"
  std::string machine;           // "x86_64"
  std::string container;         // "docker", "podman", "lxc", ...; empty where none confines us
  std::string apparmor_profile;  // that confines us; empty when none does
  std::string apparmor_file;     // our own profile as installed; empty when it is not
  std::optional<std::string> security_modules;           // "capability,landlock,yama"
  std::optional<std::string> max_user_namespaces;        // sysctl user.max_user_namespaces
  std::optional<std::string> unprivileged_userns_clone;  // Debian's own kernel.* sysctl
  std::optional<std::string> apparmor_restricts_userns;  // the kernel.apparmor_* sysctl
};

HostFacts ReadHostFacts();

// The word for a container runtime that left its traces: the text of /proc/self/cgroup, the value
// of `container` in process 1's environment, and whether Docker's and Podman's marker files exist.
std::string ContainerName(const std::string& self_cgroup, const std::string& container_variable,
                          bool docker_file, bool podman_file);

}  // namespace glovebox::sandbox

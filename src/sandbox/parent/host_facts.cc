#include "sandbox/parent/host_facts.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/text.h"

namespace glovebox::sandbox {
namespace {

std::optional<std::string> Line(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  if (!text) return std::nullopt;
  return std::string(Trim(*text));
}

bool Exists(const char* path) { return ::access(path, F_OK) == 0; }

// The value of `name` in a text of "name: value" lines.
std::string Field(std::string_view text, std::string_view name) {
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with(name)) return std::string(Trim(line.substr(name.size())));
  }
  return {};
}

bool HasAdministrator(const std::string& status, std::string_view set) {
  const std::string mask = Field(status, set);
  return (std::strtoull(mask.c_str(), nullptr, 16) >> CAP_SYS_ADMIN & 1) != 0;
}

// Without the right to look at process 1 nothing is known, and nothing said.
bool ChangedRoot() {
  struct stat ours;
  struct stat first;
  return ::stat("/", &ours) == 0 && ::stat("/proc/1/root/.", &first) == 0 &&
         (ours.st_ino != first.st_ino || ours.st_dev != first.st_dev);
}

std::string ContainerVariable() {
  for (const std::string_view entry : Split(ReadFile("/proc/1/environ").value_or(""), '\0')) {
    if (entry.starts_with("container=")) return std::string(entry.substr(10));
  }
  return {};
}

// "4294967295" uids at once is what the first user namespace has.
bool WholeUidRange() {
  return ReadFile("/proc/self/uid_map").value_or("4294967295").find("4294967295") !=
         std::string::npos;
}

// "name (enforce)", "unconfined", or nothing where there is no AppArmor.
std::string AppArmorProfile() {
  const std::string current = Line("/proc/self/attr/apparmor/current").value_or("");
  return current == "unconfined" ? "" : std::string(current.substr(0, current.find(" (")));
}

std::string AppArmorFile() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto file = program.parent_path().parent_path() / "share/glovebox/apparmor/glovebox";
  return std::filesystem::is_regular_file(file, error) ? file.string() : "";
}

}  // namespace

std::string ContainerName(const std::string& self_cgroup, const std::string& container_variable,
                          bool docker_file, bool podman_file) {
  if (podman_file) return "podman";
  if (docker_file) return "docker";
  if (!container_variable.empty()) return container_variable;
  for (const char* name : {"kubepods", "docker", "libpod", "lxc", "garden"}) {
    if (self_cgroup.find(name) != std::string::npos) return name;
  }
  return {};
}

HostFacts ReadHostFacts() {
  HostFacts facts;
  const std::string status = ReadFile("/proc/self/status").value_or("");
  facts.root = ::geteuid() == 0;
  facts.filtered = Field(status, "Seccomp:") == "2";
  facts.changed_root = ChangedRoot();
  facts.whole_uid_range = WholeUidRange();
  utsname name = {};
  if (::uname(&name) == 0) {
    facts.kernel_release = name.release;
    facts.machine = name.machine;
  }
  // The root of a virtual machine may carry a container's traces; only what confines us counts.
  if (facts.filtered || !HasAdministrator(status, "CapBnd:")) {
    facts.container = ContainerName(ReadFile("/proc/self/cgroup").value_or(""), ContainerVariable(),
                                    Exists("/.dockerenv"), Exists("/run/.containerenv"));
  }
  facts.apparmor_profile = AppArmorProfile();
  facts.apparmor_file = AppArmorFile();
  facts.security_modules = Line("/sys/kernel/security/lsm");
  facts.max_user_namespaces = Line("/proc/sys/user/max_user_namespaces");
  facts.unprivileged_userns_clone = Line("/proc/sys/kernel/unprivileged_userns_clone");
  facts.apparmor_restricts_userns = Line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  return facts;
}

}  // namespace glovebox::sandbox

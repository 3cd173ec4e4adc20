#include "container/bundle.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/result.h"
#include "embedded/python_syscalls.h"
#include "policy/syscall_policy.h"

namespace glovebox::container {
namespace {

namespace json = boost::json;

struct LimitNameItem {
  int resource;
  const char* name;
};
constexpr LimitNameItem kLimitNames[] = {
    {RLIMIT_CORE, "RLIMIT_CORE"},         {RLIMIT_NOFILE, "RLIMIT_NOFILE"},
    {RLIMIT_FSIZE, "RLIMIT_FSIZE"},       {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"},
    {RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE"}, {RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING"},
    {RLIMIT_NPROC, "RLIMIT_NPROC"},       {RLIMIT_NICE, "RLIMIT_NICE"},
    {RLIMIT_RTPRIO, "RLIMIT_RTPRIO"},     {RLIMIT_STACK, "RLIMIT_STACK"},
};

// Of the calls that a box is never allowed, those that its start and its own locks need: the filter
// that its Python puts on itself last refuses these too.
constexpr std::string_view kNeededToStart[] = {"execve",
                                               "execveat",
                                               "openat2",
                                               "clone3",
                                               "seccomp",
                                               "landlock_create_ruleset",
                                               "landlock_add_rule",
                                               "landlock_restrict_self"};

json::array Strings(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::array Limits(const policy::BoxPolicy& policy) {
  json::array limits;
  for (const policy::RlimitItem& item : policy.rlimits) {
    const char* name = LimitName(item.resource);
    if (name == nullptr) continue;
    limits.emplace_back(json::object{{"type", name}, {"hard", item.value}, {"soft", item.value}});
  }
  return limits;
}

json::object Process(const BundleSpec& spec) {
  json::array environment;
  for (const auto& [name, value] : spec.policy->environment) {
    environment.emplace_back(name + "=" + value);
  }
  json::object none;
  for (const char* set : {"bounding", "effective", "inheritable", "permitted", "ambient"}) {
    none[set] = json::array();
  }
  return {{"terminal", false},
          {"user", {{"uid", spec.inner_uid}, {"gid", spec.inner_uid}}},
          {"args", Strings(spec.arguments)},
          {"env", std::move(environment)},
          {"cwd", spec.work_folder},
          {"capabilities", std::move(none)},
          {"rlimits", Limits(*spec.policy)},
          {"noNewPrivileges", true}};
}

json::object Mount(const char* target, const char* type, json::array options) {
  return {
      {"destination", target}, {"type", type}, {"source", type}, {"options", std::move(options)}};
}

std::ptrdiff_t DepthOf(const json::value& mount) {
  const json::string& target = mount.at("destination").as_string();
  return std::count(target.begin(), target.end(), '/');
}

json::array Mounts(const BundleSpec& spec) {
  json::array mounts;
  mounts.push_back(Mount("/proc", "proc", {"nosuid", "noexec", "nodev"}));
  mounts.push_back(Mount("/dev", "tmpfs", {"nosuid", "noexec", "mode=755", "size=65536"}));
  for (const BindMount& bind : spec.root->binds) {
    json::array options = {"bind", "nosuid", "nodev", bind.writable ? "rw" : "ro"};
    if (bind.writable) options.emplace_back("noexec");
    // crun forgets the plain flags of what stays writable; those of a whole tree it sets.
    if (bind.writable && !spec.own_kernel) {
      for (const char* flag : {"rnosuid", "rnodev", "rnoexec"}) options.emplace_back(flag);
    }
    mounts.push_back({{"destination", bind.target},
                      {"type", "bind"},
                      {"source", bind.source},
                      {"options", std::move(options)}});
  }
  const std::string owner = std::to_string(spec.inner_uid);
  for (const policy::TmpfsItem& item : spec.policy->tmpfs) {
    json::array options = {"nosuid", "nodev", "mode=700"};
    if (!spec.foreign) options.emplace_back("noexec");
    options.emplace_back("uid=" + owner);
    options.emplace_back("gid=" + owner);
    options.emplace_back("size=" + std::to_string(item.size_bytes));
    if (!spec.own_kernel) options.emplace_back("nr_inodes=" + std::to_string(item.inodes));
    mounts.push_back(Mount(item.path.c_str(), "tmpfs", std::move(options)));
  }
  // Nothing is hidden by what is mounted above it later.
  std::stable_sort(mounts.begin(), mounts.end(),
                   [](const json::value& one, const json::value& other) {
                     return DepthOf(one) < DepthOf(other);
                   });
  return mounts;
}

// Further ones where the wire is a socket that has a name.
constexpr std::string_view kNeededToConnect[] = {"socket", "connect"};

// Whose calls a filter judges.
enum class Filtered : std::uint8_t { kPython, kConnectingPython, kForeign };

bool IsNeeded(const std::string& call, Filtered filtered) {
  if (filtered == Filtered::kForeign) return false;
  if (filtered == Filtered::kConnectingPython &&
      std::find(std::begin(kNeededToConnect), std::end(kNeededToConnect), call) !=
          std::end(kNeededToConnect)) {
    return true;
  }
  return std::find(std::begin(kNeededToStart), std::end(kNeededToStart), call) !=
         std::end(kNeededToStart);
}

json::object DenyIf(const char* call, const char* comparison, std::uint64_t value,
                    std::uint64_t second) {
  return {
      {"names", {call}},
      {"action", "SCMP_ACT_ERRNO"},
      {"errnoRet", EPERM},
      {"args",
       {json::object{{"index", 0}, {"value", value}, {"valueTwo", second}, {"op", comparison}}}}};
}

// What a foreign program's list says of arguments: no new namespaces, and no families of sockets
// but local ones, IP and netlink.
void AddConditions(json::array& rules) {
  for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                         CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    const auto mask = static_cast<std::uint64_t>(flag);
    rules.push_back(DenyIf("clone", "SCMP_CMP_MASKED_EQ", mask, mask));
  }
  for (std::uint64_t family = 0; family < AF_NETLINK; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    rules.push_back(DenyIf("socket", "SCMP_CMP_EQ", family, 0));
  }
  rules.push_back(DenyIf("socket", "SCMP_CMP_GT", AF_NETLINK, 0));
}

// The first wall of calls around the whole container, its first process included: what the policy
// denies without conditions. The one that Python puts on itself, inside, is the whole policy.
// Around a foreign program it is the only one.
json::object Filter(Filtered filtered) {
  const bool foreign = filtered == Filtered::kForeign;
  static const Result<SyscallPolicy> python = ParseSyscallPolicy(embedded::kPythonSyscalls);
  static const Result<SyscallPolicy> server = ParseSyscallPolicy(embedded::kServerSyscalls);
  CHECK(python.ok() && server.ok());  // the build compiled the same texts
  json::array rules;
  if (foreign) AddConditions(rules);
  if (filtered == Filtered::kConnectingPython) {
    rules.push_back(DenyIf("socket", "SCMP_CMP_NE", AF_UNIX, 0));
  }
  for (const DenyRule& rule : (foreign ? server : python)->deny) {
    json::array names;
    for (const std::string& call : rule.calls) {
      if (!IsNeeded(call, filtered)) names.emplace_back(call);
    }
    if (names.empty()) continue;
    rules.push_back(
        {{"names", std::move(names)}, {"action", "SCMP_ACT_ERRNO"}, {"errnoRet", rule.error}});
  }
  return {{"defaultAction", "SCMP_ACT_ALLOW"}, {"syscalls", std::move(rules)}};
}

json::array Mapping(const HostIds& ids, std::uint32_t inner) {
  return {{{"containerID", 0}, {"hostID", ids.root}, {"size", 1}},
          {{"containerID", inner}, {"hostID", ids.box}, {"size", 1}}};
}

json::object Linux(const BundleSpec& spec) {
  json::array namespaces;
  for (const char* type : {"pid", "mount", "ipc", "uts", "network"}) {
    namespaces.emplace_back(json::object{{"type", type}});
  }
  json::object object;
  object["maskedPaths"] = {"/proc/acpi",          "/proc/kcore",      "/proc/keys",
                           "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug",
                           "/proc/scsi"};
  object["readonlyPaths"] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                             "/proc/sysrq-trigger"};
  if (!spec.own_kernel) {
    namespaces.emplace_back(json::object{{"type", "cgroup"}});
    object["seccomp"] = Filter(spec.foreign ? Filtered::kForeign : Filtered::kPython);
    if (spec.ids) {
      namespaces.emplace_back(json::object{{"type", "user"}});
      object["uidMappings"] = Mapping(*spec.ids, spec.inner_uid);
      object["gidMappings"] = Mapping(*spec.ids, spec.inner_uid);
    }
  }
  object["namespaces"] = std::move(namespaces);
  return object;
}

}  // namespace

std::string BundleConfiguration(const BundleSpec& spec) {
  const json::object configuration = {
      {"ociVersion", "1.0.2"},
      {"root", {{"path", spec.root->folder}, {"readonly", true}}},
      {"hostname", spec.host_name},
      {"process", Process(spec)},
      {"mounts", Mounts(spec)},
      {"linux", Linux(spec)},
      {"annotations", {{"io.glovebox.container", spec.id}, {"io.glovebox.server", spec.server}}},
  };
  return json::serialize(configuration) + "\n";
}

std::string FilterConfiguration() {
  return json::serialize(Filter(Filtered::kConnectingPython)) + "\n";
}

const char* LimitName(int resource) {
  for (const LimitNameItem& known : kLimitNames) {
    if (known.resource == resource) return known.name;
  }
  return nullptr;
}

}  // namespace glovebox::container

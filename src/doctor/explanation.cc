#include "doctor/explanation.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace glovebox::doctor {
namespace {

using sandbox::HostFacts;
using sandbox::HostProbe;

using Advice = sandbox::RefusalCause;
using sandbox::FilterCause;
using sandbox::FilterFix;
using sandbox::IsPodman;
using sandbox::kUnknownFix;

bool IsDocker(const HostFacts& facts) {
  return facts.container == "docker" || facts.container == "kubepods";
}

bool Refused(int sys_errno) { return sys_errno == EPERM || sys_errno == EACCES; }

Advice Namespaces(const Error& error, const HostFacts& facts) {
  return sandbox::WhyNoNamespaces(error.sys_errno(), facts);
}

// /proc can be mounted anew only where the outer one shows everything.
Advice Root(const Error& error, const HostFacts& facts) {
  const bool proc = error.message().find("/proc") != std::string::npos;
  if (error.sys_errno() == EPERM && proc) {
    const std::string cause =
        "parts of /proc are covered here, and the kernel "
        "allows no second one that would show them";
    if (facts.container.empty()) {
      return {cause +
                  " (ProtectKernelTunables= and ProtectKernelLogs= of a "
                  "systemd unit do that)",
              "start glovebox where /proc is whole; "
              "packaging/systemd/glovebox.service is such a unit"};
    }
    return {cause, IsPodman(facts) ? "podman run --security-opt unmask=ALL ..."
                                   : "docker run --security-opt systempaths=unconfined ..."};
  }
  if (error.sys_errno() == ENOENT) {
    return {"something a box's root is made of is not on this host",
            "reinstall glovebox: make install"};
  }
  if (Refused(error.sys_errno()) && IsDocker(facts) && !facts.apparmor_profile.empty()) {
    return {"the AppArmor profile " + facts.apparmor_profile + " forbids mounts",
            "docker run --security-opt apparmor=unconfined ..."};
  }
  return Namespaces(error, facts);
}

Advice Landlock(const Error& error, const HostFacts& facts) {
  const int number = error.sys_errno();
  const bool listed =
      facts.security_modules && facts.security_modules->find("landlock") != std::string::npos;
  if (number == EOPNOTSUPP || (facts.security_modules && !listed)) {
    return {"the kernel has Landlock, but was started without it (lsm= names " +
                facts.security_modules.value_or("other modules") + ")",
            "add lsm=landlock," + facts.security_modules.value_or("...") +
                " to GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub "
                "and reboot"};
  }
  if ((number == ENOSYS || Refused(number)) && (facts.filtered || listed)) {
    return {FilterCause(facts, "Landlock's calls"),
            facts.container.empty() ? FilterFix(facts)
                                    : FilterFix(facts) + "; or a runtime from 2022 on"};
  }
  if (number == ENOSYS) {
    return {"Linux " + facts.kernel_release +
                " has no Landlock (it came with 5.13, option "
                "CONFIG_SECURITY_LANDLOCK)",
            "boot Linux 5.13 or newer; 6.12 and newer have all of it"};
  }
  return {"", kUnknownFix};
}

Advice Seccomp(const Error& error, const HostFacts& facts) {
  if (error.code() == Errc::kUnsupported) {
    return {"glovebox has tables of system calls for x86_64 and aarch64; this is " + facts.machine,
            "run it on one of these"};
  }
  if (facts.filtered) return {FilterCause(facts, "another filter"), FilterFix(facts)};
  if (error.sys_errno() == EINVAL) {
    return {"this kernel was built without CONFIG_SECCOMP_FILTER", "boot a kernel that has it"};
  }
  return {"", kUnknownFix};
}

Advice CallEvents(const Error& error, const HostFacts& facts) {
  if (error.sys_errno() == EBUSY) {
    return {
        "somebody above already listens to refused system calls, and the "
        "kernel has room for "
        "one listener; calls are refused all the same",
        "start glovebox outside of that supervisor"};
  }
  return Seccomp(error, facts);
}

Advice Cgroups(const Error& error, const HostFacts& facts) {
  const int number = error.sys_errno();
  const std::string in_container =
      "run glovebox as a normal user in the container (docker run --user "
      "1000:1000 ...: a "
      "supervisor holds the memory limit), or give it the tree: "
      "--cgroupns=host -v "
      "/sys/fs/cgroup:/sys/fs/cgroup:rw";
  const std::string delegated = "systemd-run --scope -p Delegate=yes glovebox serve ...";
  if (number == EROFS) {
    return {"the cgroup tree is read-only here, as containers have it", in_container};
  }
  if (Refused(number)) {
    return {"this root may not make groups: the tree above is not delegated to it",
            facts.container.empty() ? delegated : in_container};
  }
  if (number == EBUSY) {
    return {
        "the cgroup above holds processes of its own, so it cannot pass "
        "controllers on",
        delegated};
  }
  return {"the memory or the pids controller is not offered to this process",
          "mount cgroup2 (mount -t cgroup2 none /sys/fs/cgroup), or boot with "
          "cgroup_enable=memory"};
}

Advice Rlimits(const Error&, const HostFacts& facts) {
  const std::string fix = facts.container.empty()
                              ? "raise the hard limit named above: LimitNOFILE= and the like in a "
                                "systemd unit, or /etc/security/limits.conf"
                              : "docker run --ulimit nofile=65536 --ulimit nproc=65536 ...";
  return {
      "the hard limit of this process is below what a box is given, and "
      "only root may raise it",
      fix};
}

Advice AdviceFor(HostProbe probe, const Error& error, const HostFacts& facts) {
  switch (probe) {
    case HostProbe::kIdentity:
    case HostProbe::kPidNamespace:
    case HostProbe::kNetNamespace:
    case HostProbe::kIpcNamespace: return Namespaces(error, facts);
    case HostProbe::kRoot: return Root(error, facts);
    case HostProbe::kLandlock: return Landlock(error, facts);
    case HostProbe::kSeccomp: return Seccomp(error, facts);
    case HostProbe::kCallEvents: return CallEvents(error, facts);
    case HostProbe::kCgroups: return Cgroups(error, facts);
    case HostProbe::kRlimits: return Rlimits(error, facts);
  }
  return {"", kUnknownFix};
}

}  // namespace

Trouble Explain(HostProbe probe, const Error& error, const HostFacts& facts) {
  Advice advice = AdviceFor(probe, error, facts);
  std::string reason = error.message();
  if (const char* name = ::strerrorname_np(error.sys_errno()); error.sys_errno() != 0 && name) {
    reason += " (" + std::string(name) + ")";
  }
  return {std::move(reason), std::move(advice.cause), std::move(advice.fix)};
}

}  // namespace glovebox::doctor

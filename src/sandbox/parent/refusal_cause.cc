#include "sandbox/parent/refusal_cause.h"

#include <cerrno>

namespace glovebox::sandbox {
namespace {

std::string Persistent(const std::string& setting) {
  return "sysctl -w " + setting + " && echo " + setting + " > /etc/sysctl.d/60-glovebox.conf";
}

std::string LoadProfile(const HostFacts& facts) {
  const std::string file =
      facts.apparmor_file.empty() ? "packaging/apparmor/glovebox" : facts.apparmor_file;
  return "install -m 644 " + file +
         " /etc/apparmor.d/glovebox && apparmor_parser -r "
         "/etc/apparmor.d/glovebox";
}

bool Refused(int sys_errno) { return sys_errno == EPERM || sys_errno == EACCES; }

// How to start the surrounding container without its filter on system calls.
std::string Unfiltered(const HostFacts& facts) {
  if (facts.container == "kubepods") {
    return "in the pod's securityContext: seccompProfile: {type: Unconfined}";
  }
  const std::string runtime = IsPodman(facts) ? "podman" : "docker";
  return runtime +
         " run --security-opt seccomp=unconfined --security-opt "
         "apparmor=unconfined --security-opt "
         "systempaths=unconfined ... (docs/containers-around.md)";
}

}  // namespace

bool IsPodman(const HostFacts& facts) {
  return facts.container == "podman" || facts.container == "libpod";
}

std::string FilterCause(const HostFacts& facts, const std::string& calls) {
  if (facts.container.empty()) {
    return "a system-call filter (seccomp) above this process refuses " + calls +
           "; container runtimes and service managers set one";
  }
  return "the default system-call filter (seccomp) of " + facts.container + " refuses " + calls;
}

std::string FilterFix(const HostFacts& facts) {
  return facts.container.empty() ? "start glovebox without that filter (a systemd unit: no "
                                   "SystemCallFilter= and no "
                                   "RestrictNamespaces=; docker: --security-opt seccomp=unconfined)"
                                 : Unfiltered(facts);
}

RefusalCause WhyNoNamespaces(int number, const HostFacts& facts) {
  if (number == ENOSPC) {
    const std::string limit = facts.max_user_namespaces.value_or("?");
    return {limit == "0" ? "user.max_user_namespaces is 0: nobody may make a user namespace"
                         : "a limit in /proc/sys/user/max_*_namespaces is used up "
                           "(user.max_user_namespaces is " +
                               limit + ")",
            Persistent("user.max_user_namespaces=15000")};
  }
  if (Refused(number) && !facts.root && facts.apparmor_restricts_userns == "1") {
    return {
        "kernel.apparmor_restrict_unprivileged_userns is 1 (Ubuntu from "
        "23.10 on): user "
        "namespaces without privilege need an AppArmor profile",
        LoadProfile(facts)};
  }
  if (Refused(number) && !facts.root && facts.unprivileged_userns_clone == "0") {
    return {"kernel.unprivileged_userns_clone is 0: user namespaces are for root",
            Persistent("kernel.unprivileged_userns_clone=1")};
  }
  if ((Refused(number) || number == ENOSYS) && facts.filtered) {
    return {FilterCause(facts, "new namespaces"), FilterFix(facts)};
  }
  if (number == EPERM && facts.changed_root) {
    return {
        "this process lives in a chroot, where the kernel allows no user "
        "namespace",
        "start glovebox outside of the chroot, or enter it by pivot_root"};
  }
  if (number == EINVAL) {
    return {"this kernel was built without user namespaces (CONFIG_USER_NS)",
            "boot a kernel with CONFIG_USER_NS=y; Debian's and Ubuntu's have it"};
  }
  if (number == EPERM && facts.root && !facts.whole_uid_range) {
    return {
        "root of a user namespace that maps too few uids: boxes take "
        "theirs from "
        "2,000,000,000 upward",
        "run glovebox as a normal user in there, or as the host's root"};
  }
  if (number == EUSERS) {
    return {"user namespaces are nested 32 deep", "start glovebox further outside"};
  }
  return {"", kUnknownFix};
}

}  // namespace glovebox::sandbox

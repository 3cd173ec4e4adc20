#include "doctor/explanation.h"

#include <cerrno>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::doctor {
namespace {

using sandbox::HostFacts;
using sandbox::HostProbe;
using testing::HasSubstr;

struct Row {
  const char* name;
  HostProbe probe;
  Error error;
  HostFacts facts;
  const char* cause;
  const char* fix;
};

HostFacts With(void (*change)(HostFacts&)) {
  HostFacts facts;
  facts.kernel_release = "6.1.0";
  facts.machine = "x86_64";
  facts.security_modules = "capability,landlock,yama";
  facts.max_user_namespaces = "96343";
  change(facts);
  return facts;
}

Error Errno(const char* act, int number) { return Error::FromErrno(act, number); }

std::vector<Row> Rows() {
  return {
      {"sysctl", HostProbe::kIdentity, Errno("making namespaces", ENOSPC),
       With([](HostFacts& f) { f.max_user_namespaces = "0"; }), "user.max_user_namespaces is 0",
       "sysctl -w user.max_user_namespaces=15000"},
      {"used up", HostProbe::kNetNamespace, Errno("making namespaces", ENOSPC),
       With([](HostFacts&) {}), "used up (user.max_user_namespaces is 96343)",
       "sysctl -w user.max_user_namespaces="},
      {"Ubuntu", HostProbe::kIpcNamespace, Errno("setting its host name", EPERM),
       With([](HostFacts& f) { f.apparmor_restricts_userns = "1"; }),
       "kernel.apparmor_restrict_unprivileged_userns is 1",
       "apparmor_parser -r /etc/apparmor.d/glovebox"},
      {"old Debian", HostProbe::kIdentity, Errno("making namespaces", EPERM),
       With([](HostFacts& f) { f.unprivileged_userns_clone = "0"; }),
       "kernel.unprivileged_userns_clone is 0", "sysctl -w kernel.unprivileged_userns_clone=1"},
      {"Docker", HostProbe::kPidNamespace, Errno("making namespaces", ENOSYS),
       With([](HostFacts& f) { f.filtered = true, f.container = "docker"; }),
       "the default system-call filter (seccomp) of docker refuses new namespaces",
       "docker run --security-opt seccomp=unconfined"},
      {"Podman", HostProbe::kPidNamespace, Errno("making namespaces", EPERM),
       With([](HostFacts& f) { f.filtered = true, f.container = "podman"; }),
       "system-call filter (seccomp) of podman", "podman run --security-opt seccomp=unconfined"},
      {"Kubernetes", HostProbe::kIdentity, Errno("making namespaces", EPERM),
       With([](HostFacts& f) { f.filtered = true, f.container = "kubepods"; }),
       "(seccomp) of kubepods", "seccompProfile: {type: Unconfined}"},
      {"a unit", HostProbe::kIdentity, Errno("making namespaces", EPERM),
       With([](HostFacts& f) { f.filtered = true; }),
       "a system-call filter (seccomp) above this process", "no RestrictNamespaces="},
      {"chroot", HostProbe::kIdentity, Errno("making namespaces", EPERM),
       With([](HostFacts& f) { f.changed_root = true; }), "lives in a chroot",
       "outside of the chroot"},
      {"no CONFIG_USER_NS", HostProbe::kIdentity, Errno("making namespaces", EINVAL),
       With([](HostFacts&) {}), "CONFIG_USER_NS", "boot a kernel with CONFIG_USER_NS=y"},
      {"root of a small namespace", HostProbe::kIdentity, Errno("/proc/9/uid_map", EPERM),
       With([](HostFacts& f) { f.root = true, f.whole_uid_range = false; }), "maps too few uids",
       "as a normal user"},
      {"masked /proc", HostProbe::kRoot, Errno("placing into its root /proc", EPERM),
       With([](HostFacts& f) { f.container = "docker"; }), "parts of /proc are covered",
       "--security-opt systempaths=unconfined"},
      {"a unit that covers /proc", HostProbe::kRoot,
       Errno("placing into its root proc /proc", EPERM), With([](HostFacts&) {}),
       "ProtectKernelTunables=", "where /proc is whole"},
      {"mounts forbidden", HostProbe::kRoot, Errno("mounting its root", EACCES),
       With([](HostFacts& f) { f.container = "docker", f.apparmor_profile = "docker-default"; }),
       "AppArmor profile docker-default forbids mounts", "--security-opt apparmor=unconfined"},
      {"lsm=", HostProbe::kLandlock, Errno("entering its Landlock domain", EOPNOTSUPP),
       With([](HostFacts& f) { f.security_modules = "capability,apparmor"; }),
       "started without it (lsm= names capability,apparmor)", "lsm=landlock,capability,apparmor"},
      {"Landlock filtered", HostProbe::kLandlock, Errno("entering its Landlock domain", EPERM),
       With([](HostFacts& f) { f.filtered = true; }), "refuses Landlock's calls",
       "without that filter"},
      {"old kernel", HostProbe::kLandlock, Errno("entering its Landlock domain", ENOSYS),
       With([](HostFacts& f) { f.security_modules.reset(), f.kernel_release = "5.10.0"; }),
       "Linux 5.10.0 has no Landlock", "boot Linux 5.13 or newer"},
      {"processor", HostProbe::kSeccomp, Error(Errc::kUnsupported, "no filter"),
       With([](HostFacts& f) { f.machine = "riscv64"; }), "this is riscv64", "run it on one"},
      {"listener", HostProbe::kCallEvents, Errno("listening to refused system calls", EBUSY),
       With([](HostFacts&) {}), "somebody above already listens", "outside of that supervisor"},
      {"cgroups in Docker", HostProbe::kCgroups, Errno("/sys/fs/cgroup/x", EROFS),
       With([](HostFacts& f) { f.root = true, f.container = "docker"; }), "read-only here",
       "docker run --user 1000:1000"},
      {"no delegation", HostProbe::kCgroups, Errno("/sys/fs/cgroup/x", EACCES),
       With([](HostFacts& f) { f.root = true; }), "not delegated to it", "Delegate=yes"},
      {"hard limit", HostProbe::kRlimits, Errno("limiting nofile to 1024", EPERM),
       With([](HostFacts&) {}), "hard limit of this process", "LimitNOFILE="},
  };
}

TEST(ExplanationTest, EveryUsualCauseHasItsWordsAndItsCommand) {
  for (const Row& row : Rows()) {
    const Trouble trouble = Explain(row.probe, row.error, row.facts);
    EXPECT_THAT(trouble.cause, HasSubstr(row.cause)) << row.name;
    EXPECT_THAT(trouble.fix, HasSubstr(row.fix)) << row.name;
    EXPECT_THAT(trouble.reason, HasSubstr(row.error.message())) << row.name;
  }
}

TEST(ExplanationTest, TheReasonNamesTheErrno) {
  EXPECT_EQ(Explain(HostProbe::kIdentity, Errno("making namespaces", ENOSPC), {}).reason,
            "making namespaces: No space left on device (ENOSPC)");
}

// What a host says must not be blamed for an error it cannot cause.
TEST(ExplanationTest, AnUnknownCauseIsNotInvented) {
  const auto facts = With([](HostFacts& f) { f.root = true, f.apparmor_restricts_userns = "1"; });
  const Trouble trouble = Explain(HostProbe::kIdentity, Errno("making namespaces", EPERM), facts);
  EXPECT_EQ(trouble.cause, "");
  EXPECT_FALSE(trouble.fix.empty());
}

}  // namespace
}  // namespace glovebox::doctor

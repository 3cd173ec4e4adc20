#include "egress/self_jail.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "sandbox/child/identity.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/compile/filters.h"
#include "sandbox/compile/landlock_abi.h"

namespace glovebox::egress {
namespace {

constexpr std::uint64_t kReadFile = 1ull << 2;  // LANDLOCK_ACCESS_FS_READ_FILE
constexpr std::uint64_t kReadDir = 1ull << 3;
constexpr std::uint64_t kBindTcp = 1ull << 0;  // LANDLOCK_ACCESS_NET_BIND_TCP

Status ToStatus(const char* what, int error) {
  if (error == 0) return {};
  return Error::FromErrno(what, error);
}

Status SetOwnLimits() {
  constexpr sandbox::LimitEntry kLimits[] = {
      {RLIMIT_CORE, 0},           // memory with others' data in it stays here
      {RLIMIT_NOFILE, 512},       // 128 connections of two sockets each, and our own
      {RLIMIT_FSIZE, 0},          // it writes no file
      {RLIMIT_MEMLOCK, 0},        // nor locks memory
      {RLIMIT_DATA, 512u << 20},  // buffers are bounded far below; a leak ends here
  };
  std::uint16_t detail = 0;
  return ToStatus("setting limits", sandbox::SetLimits(kLimits, std::size(kLimits), &detail));
}

// We are uid 0 of a user namespace that maps another uid as well, or only that one; or, without a
// user namespace, a uid that never had a capability.
Status LoseIdentity(bool other_uid) {
  if (::geteuid() != 0) {
    return ToStatus("having no capability", sandbox::ConfirmNoCapabilities());
  }
  if (!other_uid) return ToStatus("losing capabilities", sandbox::LoseCapabilities());
  constexpr uid_t kOtherUid = 1;
  constexpr std::uint64_t kToDropTheRest = 1ull << CAP_SETPCAP;
  constexpr std::uint64_t kToBecomeIt = 1ull << CAP_SETUID | 1ull << CAP_SETGID;
  int error = sandbox::KeepCapabilities(kToDropTheRest | kToBecomeIt);
  if (error == 0) error = sandbox::BecomeUser(kOtherUid);
  if (error == 0) error = sandbox::RaiseCapabilities(kToDropTheRest);
  if (error == 0) error = sandbox::DropCapabilities();
  return ToStatus("becoming its own user", error);
}

Status EnterLandlock() {
  const int abi = sandbox::LandlockAbi();
  if (abi < 1) return Error(Errc::kUnsupported, "this kernel has no Landlock");
  const sandbox::LandlockMasks masks = sandbox::MasksForAbi(abi);
  // Its root holds nothing else that could be read; which hosts are dialled is its own business.
  const sandbox::LandlockRule rules[] = {{"/etc", (kReadFile | kReadDir) & masks.fs}};
  const sandbox::LandlockPlan plan = {masks.fs, masks.net & kBindTcp, masks.scoped, rules,
                                      std::size(rules)};
  std::uint16_t detail = 0;
  return ToStatus("entering a Landlock domain", sandbox::ApplyLandlock(plan, &detail));
}

Status InstallFilter() {
  const auto filter = EgressFilter();
  if (filter.empty()) {
    return Error(Errc::kUnsupported, "there is no system-call filter for this processor");
  }
  int listener_fd = -1;
  const int error =
      sandbox::ApplyFilter(filter.data(), static_cast<std::uint16_t>(filter.size()), &listener_fd);
  // Nobody answers for refused calls: without a listener the kernel says ENOSYS.
  if (listener_fd >= 0) ::close(listener_fd);
  return ToStatus("installing the system-call filter", error);
}

}  // namespace

Status LockSelfIn(bool other_uid) {
  TRY(ToStatus("joining a fresh keyring", sandbox::JoinFreshKeyring()));
  TRY(SetOwnLimits());
  TRY(LoseIdentity(other_uid));
  TRY(ToStatus("setting no_new_privs", sandbox::SetNoNewPrivs()));
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return Error::FromErrno("dumpable", errno);
  TRY(ToStatus("setting process flags", sandbox::SetProcessFlags()));
  TRY(EnterLandlock());
  return InstallFilter();
}

}  // namespace glovebox::egress

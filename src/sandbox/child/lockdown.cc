#include "sandbox/child/lockdown.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/syscalls.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

namespace glovebox::sandbox {
namespace {

struct LandlockRulesetAttr {
  std::uint64_t handled_fs;
  std::uint64_t handled_net;
  std::uint64_t scoped;
};

struct __attribute__((packed)) LandlockPathBeneathAttr {
  std::uint64_t allowed;
  std::int32_t parent_fd;
};

struct LandlockNetPortAttr {
  std::uint64_t allowed;
  std::uint64_t port;
};

constexpr int kLandlockRulePathBeneath = 1;
constexpr int kLandlockRuleNetPort = 2;
constexpr std::uint64_t kLandlockConnectTcp = 1ull << 1;

// Older kernels refuse a longer struct than theirs unless the rest is zero; pass what is used.
AFTER_FORK std::uint64_t AttrSize(const LandlockPlan& plan) noexcept {
  if (plan.scoped != 0) return 24;
  return plan.handled_net != 0 ? 16 : 8;
}

AFTER_FORK int AddRule(int ruleset_fd, const LandlockRule& rule) noexcept {
  long path_fd = rule.opened_fd;
  if (path_fd < 0) path_fd = syscall(SYS_openat, AT_FDCWD, rule.path, O_PATH | O_CLOEXEC);
  if (path_fd < 0) return errno;
  const LandlockPathBeneathAttr attr = {rule.allowed, static_cast<std::int32_t>(path_fd)};
  const int error =
      ErrnoOf(syscall(kSysLandlockAddRule, ruleset_fd, kLandlockRulePathBeneath, &attr, 0));
  if (path_fd != rule.opened_fd) syscall(SYS_close, path_fd);
  return error;
}

AFTER_FORK int AddRules(int ruleset_fd, const LandlockPlan& plan, const LandlockRule& own,
                        std::uint16_t* detail) noexcept {
  for (std::uint16_t i = 0; i < plan.rule_count; ++i) {
    if (const int error = AddRule(ruleset_fd, plan.rules[i]); error != 0) {
      *detail = i;
      return error;
    }
  }
  const bool handles_connect = (plan.handled_net & kLandlockConnectTcp) != 0;
  for (std::uint16_t i = 0; handles_connect && i < plan.connect_port_count; ++i) {
    const LandlockNetPortAttr port = {kLandlockConnectTcp, plan.connect_ports[i]};
    if (syscall(kSysLandlockAddRule, ruleset_fd, kLandlockRuleNetPort, &port, 0) < 0) return errno;
  }
  if (own.path == nullptr) return 0;
  *detail = plan.rule_count;
  return AddRule(ruleset_fd, own);
}

}  // namespace

AFTER_FORK int SetLimits(const LimitEntry* limits, std::uint16_t count,
                         std::uint16_t* detail) noexcept {
  for (std::uint16_t i = 0; i < count; ++i) {
    const struct rlimit64 limit = {limits[i].value, limits[i].value};
    if (syscall(SYS_prlimit64, 0, limits[i].resource, &limit, nullptr) < 0) {
      *detail = i;
      return errno;
    }
  }
  return 0;
}

AFTER_FORK int SlowGrowth(std::int32_t cpu) noexcept {
  unsigned long mask[16] = {};  // 1,024 CPUs
  constexpr std::int32_t kBits = 8 * sizeof(mask[0]);
  if (cpu >= 16 * kBits) return EINVAL;
  mask[cpu / kBits] = 1ul << (cpu % kBits);
  if (syscall(SYS_sched_setaffinity, 0, sizeof(mask), mask) < 0) return errno;
  return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0 ? 0 : errno;
}

AFTER_FORK int ArrangeDescriptors(const DescriptorMove* moves, std::uint16_t count,
                                  int first_closed) noexcept {
  for (std::uint16_t i = 0; i < count; ++i) {
    // dup3 clears close-on-exec on the copy.
    if (syscall(SYS_dup3, moves[i].from, moves[i].to, 0) < 0) return errno;
  }
  return ErrnoOf(syscall(kSysCloseRange, static_cast<unsigned>(first_closed), ~0u, 0));
}

AFTER_FORK int ClearSignalMask() noexcept {
  const std::uint64_t none = 0;
  return ErrnoOf(syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &none, nullptr, sizeof(none)));
}

AFTER_FORK int ResetSignalAction(int signal) noexcept {
  const std::uint64_t default_action[4] = {};  // the kernel's sigaction: handler 0, no flags
  return ErrnoOf(syscall(SYS_rt_sigaction, signal, default_action, nullptr, sizeof(std::uint64_t)));
}

AFTER_FORK void ResetSignalActions() noexcept {
  for (int signal = 1; signal <= 64; ++signal) ResetSignalAction(signal);
}

AFTER_FORK int SetNoNewPrivs() noexcept {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

AFTER_FORK int RefuseWritableCode() noexcept {
  if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0 || errno == EINVAL) return 0;
  return errno;
}

AFTER_FORK int SetProcessFlags() noexcept {
  if (const int error = RefuseWritableCode(); error != 0) return error;
  constexpr unsigned long kMisfeatures[] = {PR_SPEC_STORE_BYPASS, PR_SPEC_INDIRECT_BRANCH};
  for (const unsigned long misfeature : kMisfeatures) {
    const int state = prctl(PR_GET_SPECULATION_CTRL, misfeature, 0, 0, 0);
    const bool settable = state > 0 && (static_cast<unsigned>(state) & PR_SPEC_PRCTL) != 0;
    if (!settable) continue;  // not affected, or not ours to set on this machine
    // A filter that somebody loaded before us may have done it for good.
    if ((static_cast<unsigned>(state) & PR_SPEC_FORCE_DISABLE) != 0) continue;
    if (prctl(PR_SET_SPECULATION_CTRL, misfeature, PR_SPEC_DISABLE, 0, 0) != 0) return errno;
  }
  return 0;
}

AFTER_FORK int MakeRuleset(const LandlockPlan& plan, const LandlockRule& own, int* ruleset_fd,
                           std::uint16_t* detail) noexcept {
  const LandlockRulesetAttr attr = {plan.handled_fs, plan.handled_net, plan.scoped};
  const long fd = syscall(kSysLandlockCreateRuleset, &attr, AttrSize(plan), 0);
  if (fd < 0) return errno;
  *ruleset_fd = static_cast<int>(fd);
  const int error = AddRules(*ruleset_fd, plan, own, detail);
  if (error != 0) syscall(SYS_close, fd);
  return error;
}

AFTER_FORK int EnterRuleset(int ruleset_fd) noexcept {
  return ErrnoOf(syscall(kSysLandlockRestrictSelf, ruleset_fd, 0));
}

AFTER_FORK int ApplyLandlock(const LandlockPlan& plan, std::uint16_t* detail) noexcept {
  int ruleset_fd = -1;
  if (const int error = MakeRuleset(plan, {nullptr, 0}, &ruleset_fd, detail); error != 0) {
    return error;
  }
  const int error = EnterRuleset(ruleset_fd);
  syscall(SYS_close, ruleset_fd);
  return error;
}

AFTER_FORK int ApplyFilter(const sock_filter* filter, std::uint16_t length,
                           int* listener_fd) noexcept {
  const sock_fprog program = {length, const_cast<sock_filter*>(filter)};
  // A signal must not interrupt a call that the supervisor is answering: it would be made again and
  // counted twice. Linux before 5.19 cannot promise that, but can do the rest.
  constexpr unsigned long kExtras[] = {1ul << 5 /* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV */, 0};
  for (const unsigned long extra : kExtras) {
    const long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            SECCOMP_FILTER_FLAG_NEW_LISTENER | extra, &program);
    if (fd >= 0) {
      *listener_fd = static_cast<int>(fd);
      return 0;
    }
    if (errno != EINVAL) break;
  }
  *listener_fd = -1;
  if (errno != EBUSY) return errno;
  return ApplyFilterAlone(filter, length);
}

AFTER_FORK int ApplyFilterAlone(const sock_filter* filter, std::uint16_t length) noexcept {
  const sock_fprog program = {length, const_cast<sock_filter*>(filter)};
  return ErrnoOf(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

}  // namespace glovebox::sandbox

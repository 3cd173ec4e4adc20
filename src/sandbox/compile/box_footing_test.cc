// What the shipped filters refuse to boxes that have less to hold them.
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <initializer_list>

#include <gtest/gtest.h>

#include "sandbox/compile/bpf_evaluator.h"
#include "sandbox/compile/filter_compiler.h"
#include "sandbox/compile/filters.h"

namespace glovebox {
namespace {

#if defined(__x86_64__)
constexpr Arch kArch = Arch::kX86_64;
#else
constexpr Arch kArch = Arch::kAarch64;
#endif

std::uint32_t Answer(std::span<const sock_filter> filter, long call,
                     std::initializer_list<std::uint64_t> args = {}) {
  seccomp_data data = {};
  data.nr = static_cast<int>(call);
  data.arch = AuditArch(kArch);
  std::copy(args.begin(), args.end(), data.args);
  const auto action = EvaluateBpf(filter, data);
  EXPECT_TRUE(action.ok());
  return action.ok() ? *action : 0;
}

TEST(BoxFootingTest, ABoxWithNamespacesMayLeaveItsGroupAndChangeItsFiles) {
  for (const long call : {SYS_setsid, SYS_setpgid, SYS_fchmod, SYS_fchownat, SYS_utimensat}) {
    EXPECT_EQ(Answer(PythonFilter(), call), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Answer(PythonFilterWithoutCgroup(), call), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Answer(PythonFilterWithoutNamespaces(), call), SECCOMP_RET_USER_NOTIF) << call;
  }
}

TEST(BoxFootingTest, WithoutNamespacesLimitsAndPrioritiesAreTheCallersOwn) {
  for (const long call : {SYS_prlimit64, SYS_sched_setparam, SYS_sched_setscheduler}) {
    EXPECT_EQ(Answer(PythonFilter(), call, {1234}), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Answer(PythonFilterWithoutNamespaces(), call, {0}), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Answer(PythonFilterWithoutNamespaces(), call, {1234}), SECCOMP_RET_USER_NOTIF)
        << call;
  }
  const auto filter = PythonFilterWithoutNamespaces();
  EXPECT_EQ(Answer(filter, SYS_setpriority, {0, 0, 5}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(filter, SYS_setpriority, {0, 1234, 5}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(Answer(filter, SYS_setpriority, {2, 0, 5}), SECCOMP_RET_USER_NOTIF) << "all of a user";
}

TEST(BoxFootingTest, MemoryThatNobodyWouldSeeNeedsACgroup) {
  EXPECT_EQ(Answer(PythonFilter(), SYS_memfd_create), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(PythonFilterWithoutCgroup(), SYS_memfd_create), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(Answer(PythonFilterWithoutNamespaces(), SYS_memfd_create), SECCOMP_RET_USER_NOTIF);
}

// Nothing is refused without an answer and a record.
TEST(BoxFootingTest, InAContainerTheFilterAnswersForItself) {
  const auto filter = PythonFilterInContainer();
  EXPECT_EQ(Answer(filter, SYS_memfd_create), Answer(PythonFilter(), SYS_memfd_create));
  EXPECT_EQ(Answer(filter, SYS_execve), SECCOMP_RET_ERRNO | EPERM);
  EXPECT_EQ(Answer(filter, SYS_clone3), SECCOMP_RET_ERRNO | ENOSYS);
  for (int call = 0; call < 500; ++call) {
    const std::uint32_t answer = Answer(filter, call, {1234, 1234, 1234});
    EXPECT_NE(answer, SECCOMP_RET_USER_NOTIF) << call;
    const bool allowed = Answer(PythonFilter(), call, {1234, 1234, 1234}) == SECCOMP_RET_ALLOW;
    EXPECT_EQ(answer == SECCOMP_RET_ALLOW, allowed) << call;
  }
}

TEST(BoxFootingTest, TheSupervisorKnowsEveryCallThatAnyFilterHandsToIt) {
  for (const auto filter :
       {PythonFilter(), PythonFilterWithoutCgroup(), PythonFilterWithoutNamespaces()}) {
    for (long call = 0; call < 600; ++call) {
      if (Answer(filter, call, {1234, 1234, 1234}) != SECCOMP_RET_USER_NOTIF) continue;
      const auto watched = PythonWatchedCalls();
      EXPECT_TRUE(std::any_of(watched.begin(), watched.end(), [&](const WatchedCall& known) {
        return known.number == static_cast<std::uint32_t>(call);
      })) << call;
    }
  }
}

}  // namespace
}  // namespace glovebox

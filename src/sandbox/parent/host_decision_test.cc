#include "sandbox/parent/host_decision.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/parent/refused_namespaces.h"

namespace glovebox::sandbox {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

bool MustIsolate() {
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  return std::getenv("GLOVEBOX_MUST_ISOLATE") != nullptr;
}

// `check` in a child of another user (none: this one's) that is refused `namespaces`.
bool HoldsIn(std::optional<uid_t> user, std::uint32_t namespaces,
             const std::function<bool(const HostDecision&)>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::optional<Result<UidRange>> range;
    if (::geteuid() == 0 && !user) range.emplace(UidRange::Take(kLockFolder));
    if (user && ::setresuid(*user, *user, *user) != 0) ::_exit(2);
    // A change of uid hides /proc files even from their owner; no user's process starts so.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (namespaces != 0 && !RefuseNamespaces(namespaces)) ::_exit(3);
    const HostDecision decision = DecideHostMode(range && range->ok() ? &range->value() : nullptr);
    ::_exit(check(decision) ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class HostDecisionTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!MustIsolate()) GTEST_SKIP() << "GLOVEBOX_MUST_ISOLATE is not set: this host may differ";
    if (::geteuid() != 0) GTEST_SKIP() << "takes root's ways as well";
  }
};

TEST_F(HostDecisionTest, TheUsualHostIsDecidedAtOnce) {
  EXPECT_TRUE(HoldsIn({}, 0, [](const HostDecision& decision) {
    return decision.mode.identity == IdentitySource::kMappedRange && decision.mode.namespaces &&
           decision.obstacles.empty() && RequireStrength(decision, false).ok();
  }));
  EXPECT_TRUE(HoldsIn(kNobody, 0, [](const HostDecision& decision) {
    return decision.mode.identity == IdentitySource::kMappedSelf && decision.obstacles.empty();
  }));
}

TEST_F(HostDecisionTest, RootWithoutUserNamespacesIsAtFullStrength) {
  EXPECT_TRUE(HoldsIn({}, CLONE_NEWUSER, [](const HostDecision& decision) {
    return decision.mode.identity == IdentitySource::kHostRange && decision.mode.namespaces &&
           decision.obstacles.size() == 1 && MissingWalls(decision.mode).empty() &&
           RequireStrength(decision, false).ok();
  }));
}

TEST_F(HostDecisionTest, AContainersRootHasUidsAndNoNamespaces) {
  EXPECT_TRUE(HoldsIn({}, kEveryNamespace, [](const HostDecision& decision) {
    return decision.mode.identity == IdentitySource::kHostRange && !decision.mode.namespaces &&
           MissingWalls(decision.mode).size() == 4 && !RequireStrength(decision, false).ok() &&
           RequireStrength(decision, true).ok();
  }));
}

TEST_F(HostDecisionTest, ANormalUserWithoutThemIsDegraded) {
  EXPECT_TRUE(HoldsIn(kNobody, CLONE_NEWUSER, [](const HostDecision& decision) {
    return decision.mode.identity == IdentitySource::kSelf && decision.mode.degraded() &&
           MissingWalls(decision.mode).size() == 5 && !RequireStrength(decision, false).ok() &&
           RequireStrength(decision, true).ok();
  }));
}

HostDecision Degraded() {
  HostDecision decision;
  decision.mode = {IdentitySource::kSelf, false};
  decision.obstacles.push_back(
      {"user namespaces", Error::FromErrno("making namespaces", EPERM), "the cause", "the fix"});
  return decision;
}

TEST(RequireStrengthTest, ARefusalNamesWhatIsMissingWhyAndTheFix) {
  const Status refused = RequireStrength(Degraded(), false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Errc::kUnsupported);
  EXPECT_THAT(refused.error().message(),
              AllOf(HasSubstr("No user namespaces (making namespaces: Operation not permitted)"),
                    HasSubstr("the cause; fix: the fix"), HasSubstr("pid namespace"),
                    HasSubstr("identity")));
}

TEST(RequireStrengthTest, CodeNeverRunsWithTheUidOfRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_FALSE(RequireStrength(Degraded(), true).ok());
}

TEST(HostModeTest, WallsInAModeAreAllThatAreNotMissing) {
  EXPECT_EQ(WallsIn({IdentitySource::kMappedRange, true}).bits(), Walls::All().bits());
  const HostMode degraded = {IdentitySource::kSelf, false};
  for (const MissingWall& missing : MissingWalls(degraded)) {
    if (missing.wall == Wall::kIdentity) continue;  // what is left of it stands
    EXPECT_FALSE(WallsIn(degraded).stands(missing.wall)) << missing.what;
  }
  EXPECT_TRUE(WallsIn(degraded).stands(Wall::kLandlock));
  EXPECT_TRUE(WallsIn(degraded).stands(Wall::kSeccomp));
}

}  // namespace
}  // namespace glovebox::sandbox

#include "sandbox/compile/landlock_rules.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

constexpr std::uint64_t kExecute = 1;
constexpr std::uint64_t kWriteFile = 2;
constexpr std::uint64_t kReadDir = 8;
constexpr std::uint64_t kTruncate = 1ull << 14;

policy::BoxPolicy SamplePolicy() {
  policy::BoxPolicy policy;
  policy.root = {{policy::RootItemKind::kBind, "/usr/lib", {}, false},
                 {policy::RootItemKind::kBind, "/nowhere/at/all", {}, true},
                 {policy::RootItemKind::kFile, "/etc/passwd", "x", false},
                 {policy::RootItemKind::kDevice, "/dev/null", {}, false}};
  policy.tmpfs = {{"/tmp", 1, 1}};
  return policy;
}

const LandlockGrant* Find(const std::vector<LandlockGrant>& grants, const std::string& path) {
  const auto found = std::find_if(grants.begin(), grants.end(),
                                  [&](const LandlockGrant& grant) { return grant.path == path; });
  return found == grants.end() ? nullptr : &*found;
}

TEST(LandlockRulesTest, EachAbiAddsWhatItKnows) {
  EXPECT_EQ(MasksForAbi(0).fs, 0u);
  EXPECT_EQ(MasksForAbi(1).fs, (1ull << 13) - 1);
  EXPECT_EQ(MasksForAbi(3).fs, (1ull << 15) - 1);
  EXPECT_EQ(MasksForAbi(3).net, 0u);
  EXPECT_EQ(MasksForAbi(4).net, 3u);
  EXPECT_EQ(MasksForAbi(5).scoped, 0u);
  EXPECT_EQ(MasksForAbi(7).scoped, 3u);
}

TEST(LandlockRulesTest, SaysWhatAnOldAbiLeavesOut) {
  EXPECT_THAT(MissingWithLandlockAbi(3), testing::Contains("TCP"));
  EXPECT_TRUE(MissingWithLandlockAbi(6).empty());
}

TEST(LandlockRulesTest, NothingMayBeExecutedAndOnlyTmpfsAndDevicesWritten) {
  for (int abi = 1; abi <= 9; ++abi) {
    for (const LandlockGrant& grant : CompileLandlock(SamplePolicy(), abi)) {
      EXPECT_EQ(grant.allowed & kExecute, 0u) << grant.path;
      const bool writable = grant.path == "/tmp" || grant.path == "/dev/null";
      EXPECT_EQ((grant.allowed & kWriteFile) != 0, writable) << grant.path;
      EXPECT_EQ(grant.allowed & ~MasksForAbi(abi).fs, 0u) << grant.path;
    }
  }
}

TEST(LandlockRulesTest, FilesGetNoRightsOfDirectories) {
  const std::vector<LandlockGrant> grants = CompileLandlock(SamplePolicy(), 7);
  ASSERT_NE(Find(grants, "/etc/passwd"), nullptr);
  EXPECT_EQ(Find(grants, "/etc/passwd")->allowed & kReadDir, 0u);
  EXPECT_NE(Find(grants, "/usr/lib")->allowed & kReadDir, 0u);
  EXPECT_NE(Find(grants, "/tmp")->allowed & kTruncate, 0u);
}

TEST(LandlockRulesTest, LeavesOutOptionalPathsTheHostLacksAndTheRoot) {
  const std::vector<LandlockGrant> grants = CompileLandlock(SamplePolicy(), 7);
  EXPECT_EQ(Find(grants, "/nowhere/at/all"), nullptr);
  EXPECT_EQ(Find(grants, "/"), nullptr);
}

TEST(LandlockRulesTest, AGrantIsJudgedByWhereItComesFrom) {
  policy::BoxPolicy policy = SamplePolicy();
  policy.root.push_back({policy::RootItemKind::kBind, "/data", "/usr", false, true});
  policy.root.push_back({policy::RootItemKind::kBind, "/list", "/etc/passwd", false, false});
  const std::vector<LandlockGrant> grants = CompileLandlock(policy, 5);
  const LandlockGrant* folder = Find(grants, "/data");
  ASSERT_NE(folder, nullptr);
  EXPECT_NE(folder->allowed & kWriteFile, 0u);
  EXPECT_NE(folder->allowed & kReadDir, 0u);
  EXPECT_EQ(folder->allowed & kExecute, 0u);
  const LandlockGrant* file = Find(grants, "/list");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->allowed & (kWriteFile | kReadDir), 0u);
}

}  // namespace
}  // namespace glovebox::sandbox

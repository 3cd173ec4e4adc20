#include "sandbox/parent/uid_range.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

class UidRangeTest : public testing::Test {
 public:
  UidRangeTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("uid_range_test." + std::to_string(::getpid()))) {}
  ~UidRangeTest() override { std::filesystem::remove_all(folder_); }

 protected:
  std::filesystem::path folder_;
};

TEST_F(UidRangeTest, TwoServersGetTwoRanges) {
  const Result<UidRange> first = UidRange::Take(folder_.string());
  const Result<UidRange> second = UidRange::Take(folder_.string());
  ASSERT_TRUE(first.ok()) << first.error().message();
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_EQ(first->index(), 0u);
  EXPECT_EQ(second->index(), 1u);
  EXPECT_EQ(second->base() - first->base(), kUidsPerRange);
}

TEST_F(UidRangeTest, ARangeIsFreeAgainWhenItsOwnerIsGone) {
  { const Result<UidRange> first = UidRange::Take(folder_.string()); }
  EXPECT_EQ(UidRange::Take(folder_.string())->index(), 0u);
}

TEST_F(UidRangeTest, NoRangeReachesTheSignBitOfAnInt) {
  EXPECT_LT(std::uint64_t{kUidRangesBase} + std::uint64_t{kUidRangeCount} * kUidsPerRange,
            std::uint64_t{1} << 31);
}

TEST_F(UidRangeTest, AnUnusableFolderIsNamed) {
  const Result<UidRange> range = UidRange::Take("/proc/no/folder");
  ASSERT_FALSE(range.ok());
  EXPECT_NE(range.error().message().find("/proc/no/folder"), std::string::npos);
}

TEST_F(UidRangeTest, AHeldRangeCannotBeTakenByName) {
  const Result<UidRange> first = UidRange::Take(folder_.string());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(UidRange::TakeIndex(folder_.string(), 0).error().code(), Errc::kLimit);
  EXPECT_TRUE(UidRange::TakeIndex(folder_.string(), 1).ok());
}

// A range that no server ever takes, so that nothing of a live one is hit.
TEST_F(UidRangeTest, LeftoversAreKilled) {
  { const Result<UidRange> any = UidRange::Take(folder_.string()); }
  const Result<UidRange> range = UidRange::TakeIndex(folder_.string(), kUidRangeCount + 1);
  ASSERT_TRUE(range.ok());
  EXPECT_TRUE(KillLeftovers(*range).ok());
  if (::getuid() != 0) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    ASSERT_EQ(std::getenv("GLOVEBOX_MUST_ISOLATE"), nullptr) << "must isolate, and is not root";
    GTEST_SKIP() << "only root can make a leftover";
  }
  std::signal(SIGCHLD, SIG_IGN);
  const pid_t leftover = ::fork();
  ASSERT_GE(leftover, 0);
  if (leftover == 0) {
    if (::setuid(range->base() + 7) != 0) ::_exit(1);
    while (true) ::pause();
  }
  ::usleep(20'000);
  EXPECT_TRUE(KillLeftovers(*range).ok());
  EXPECT_NE(::kill(leftover, 0), 0);
  std::signal(SIGCHLD, SIG_DFL);
}

TEST(UidMapsTest, RangesAreMappedOnlyWhereAllUidsAre) {
  constexpr const char* kAll = "         0          0 4294967295\n";
  EXPECT_TRUE(MapsHoldRanges(kAll, kAll));
  EXPECT_FALSE(MapsHoldRanges("0 0 1\n", "0 0 1\n")) << "unshare -Ur";
  EXPECT_FALSE(MapsHoldRanges("0 1000 1\n1 100000 65536\n", kAll)) << "rootless podman";
  EXPECT_FALSE(MapsHoldRanges(kAll, "0 0 1\n"));
  EXPECT_FALSE(MapsHoldRanges("", ""));
}

}  // namespace
}  // namespace glovebox::sandbox

#include "sandbox/parent/uid_range.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

class UidRangeTest : public testing::Test {
 protected:
  UidRangeTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("uid_range_test." + std::to_string(::getpid()))) {}
  ~UidRangeTest() override { std::filesystem::remove_all(folder_); }
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

TEST_F(UidRangeTest, NothingIsKilledWhereNothingIsLeft) {
  const Result<UidRange> range = UidRange::Take(folder_.string());
  ASSERT_TRUE(range.ok());
  EXPECT_TRUE(KillLeftovers(*range).ok());
}

}  // namespace
}  // namespace glovebox::sandbox

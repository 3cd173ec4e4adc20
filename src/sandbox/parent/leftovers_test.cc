#include "sandbox/parent/leftovers.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

// The directories stand for cgroups: made and removed the same way.
class LeftoversTest : public testing::Test {
 public:
  LeftoversTest()
      : folder_(fs::temp_directory_path() / ("leftovers_test." + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "branch" / "box-1");
  }
  ~LeftoversTest() override { fs::remove_all(folder_); }

 protected:
  // Far above what a server takes, so that no process of a live one is hit.
  Result<UidRange> Range(std::uint32_t offset) const {
    return UidRange::TakeIndex(folder_.string(), kUidRangeCount - 1 - offset);
  }
  bool BranchStands() const { return fs::exists(folder_ / "branch"); }

  fs::path folder_;
};

TEST_F(LeftoversTest, ANoteGoesWithItsServer) {
  const Result<UidRange> range = Range(0);
  ASSERT_TRUE(range.ok());
  {
    const Result<HostNote> note = HostNote::Write(folder_.string(), *range, {"/x"});
    ASSERT_TRUE(note.ok()) << note.error().message();
    EXPECT_TRUE(fs::exists(folder_ / ("range-" + std::to_string(range->index()))));
  }
  EXPECT_FALSE(fs::exists(folder_ / ("range-" + std::to_string(range->index()))));
}

TEST_F(LeftoversTest, WhatADeadServerNotedIsSweptAndALiveOnesIsNot) {
  const Result<UidRange> ours = Range(0);
  ASSERT_TRUE(ours.ok());
  const std::uint32_t other = kUidRangeCount - 2;
  std::ofstream(folder_ / ("range-" + std::to_string(other)))
      << (folder_ / "branch").string() << "\n/no/such\n";
  {
    const Result<UidRange> alive = Range(1);
    ASSERT_TRUE(alive.ok());
    ASSERT_TRUE(SweepDeadServers(folder_.string(), *ours).ok());
    EXPECT_TRUE(BranchStands());
  }
  ASSERT_TRUE(SweepDeadServers(folder_.string(), *ours).ok());
  EXPECT_FALSE(BranchStands());
  EXPECT_FALSE(fs::exists(folder_ / ("range-" + std::to_string(other))));
}

}  // namespace
}  // namespace glovebox::sandbox

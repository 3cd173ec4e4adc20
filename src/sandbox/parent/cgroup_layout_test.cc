#include "sandbox/parent/cgroup_layout.h"

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

constexpr char kV1Mounts[] =
    "30 24 0:26 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
    "31 24 0:27 / /sys/fs/cgroup/pids rw,nosuid - cgroup cgroup rw,pids\n"
    "32 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
constexpr char kV1Self[] =
    "5:memory:/user.slice/one\n4:pids:/\n3:cpu,cpuacct:/batch\n0::/ignored\n";
constexpr char kV2Mount[] = "40 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

TEST(CgroupLayoutTest, V1UsesOurOwnGroupInEachHierarchy) {
  const CgroupLayout layout = ParseCgroupLayout({kV1Mounts, kV1Self}, "");
  ASSERT_EQ(layout.places.size(), 4u);
  EXPECT_EQ(layout.Find("memory")->directory, "/sys/fs/cgroup/memory/user.slice/one");
  EXPECT_EQ(layout.Find("pids")->directory, "/sys/fs/cgroup/pids");
  EXPECT_EQ(layout.Find("cpu")->directory, "/sys/fs/cgroup/cpu,cpuacct/batch");
  EXPECT_EQ(layout.Find("cpuacct")->directory, layout.Find("cpu")->directory);
}

TEST(CgroupLayoutTest, V2UsesTheRootOfTheMountAndHasNoCpuacct) {
  const CgroupLayout layout =
      ParseCgroupLayout({kV2Mount, "0::/user.slice/session-1.scope\n"}, "cpu io memory pids\n");
  ASSERT_EQ(layout.places.size(), 3u);
  EXPECT_EQ(layout.Find("memory")->version, CgroupVersion::kV2);
  EXPECT_EQ(layout.Find("memory")->directory, "/sys/fs/cgroup");
  EXPECT_EQ(layout.Find("cpuacct"), nullptr);
}

TEST(CgroupLayoutTest, DisksAreApartAndHaveAnotherNameOnV2) {
  const std::string blkio = "33 24 0:29 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";
  const CgroupLayout v1 = ParseCgroupLayout({kV1Mounts + blkio, kV1Self}, "");
  EXPECT_EQ(v1.places.size(), 4u);
  ASSERT_TRUE(v1.disks.has_value());
  EXPECT_EQ(v1.disks->controller, "blkio");
  EXPECT_EQ(v1.disks->directory, "/sys/fs/cgroup/blkio");
  const CgroupLayout v2 = ParseCgroupLayout({kV2Mount, "0::/\n"}, "cpu io memory pids\n");
  ASSERT_TRUE(v2.disks.has_value());
  EXPECT_EQ(v2.disks->controller, "io");
  EXPECT_FALSE(ParseCgroupLayout({kV2Mount, "0::/\n"}, "memory pids").disks.has_value());
}

TEST(CgroupLayoutTest, HybridIsDecidedControllerByController) {
  const std::string mounts =
      "30 24 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "40 24 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  const CgroupLayout layout = ParseCgroupLayout({mounts, "5:memory:/\n0::/\n"}, "pids hugetlb");
  EXPECT_EQ(layout.Find("memory")->version, CgroupVersion::kV1);
  EXPECT_EQ(layout.Find("pids")->version, CgroupVersion::kV2);
  EXPECT_EQ(layout.Find("pids")->directory, "/sys/fs/cgroup/unified");
  EXPECT_EQ(layout.Find("cpu"), nullptr);
}

TEST(CgroupLayoutTest, AMountThatShowsOnlyAPartIsUnderstood) {
  const std::string mounts =
      "30 24 0:26 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  EXPECT_EQ(ParseCgroupLayout({mounts, "5:memory:/docker/abc/sub\n"}, "").Find("memory")->directory,
            "/sys/fs/cgroup/memory/sub");
  EXPECT_EQ(ParseCgroupLayout({mounts, "5:memory:/elsewhere\n"}, "").Find("memory")->directory,
            "/sys/fs/cgroup/memory");
}

constexpr char kScope[] = "0::/user.slice/user@1000.service/app.slice/run-1.scope\n";

TEST(DelegatedLayoutTest, IsOurOwnGroupWhichWeMustLeave) {
  const CgroupLayout layout = ParseDelegatedLayout({kV2Mount, kScope}, "cpu memory pids\n");
  const std::string group = "/sys/fs/cgroup/user.slice/user@1000.service/app.slice/run-1.scope";
  ASSERT_EQ(layout.places.size(), 3u);
  EXPECT_EQ(layout.Find("memory")->directory, group);
  EXPECT_EQ(layout.Find("memory")->version, CgroupVersion::kV2);
  EXPECT_EQ(layout.own_v2_group, group);
}

TEST(DelegatedLayoutTest, IsNothingWithoutBothControllers) {
  EXPECT_TRUE(ParseDelegatedLayout({kV2Mount, kScope}, "cpu memory\n").places.empty());
  EXPECT_TRUE(ParseDelegatedLayout({kV2Mount, kScope}, "").places.empty());
}

TEST(DelegatedLayoutTest, IsNothingAtTheRootOrOnV1) {
  EXPECT_TRUE(ParseDelegatedLayout({kV2Mount, "0::/\n"}, "memory pids").places.empty());
  EXPECT_TRUE(ParseDelegatedLayout({kV1Mounts, kV1Self}, "memory pids").places.empty());
}

TEST(CgroupLayoutBelowTest, AParentThatIsNotThereIsAnErrorWithTheFix) {
  const auto layout = CgroupLayoutBelow("/no-such-group");
  ASSERT_FALSE(layout.ok());
  EXPECT_NE(layout.error().message().find("Delegate="), std::string::npos);
  EXPECT_FALSE(CgroupLayoutBelow("relative").ok());
}

TEST(CgroupLayoutTest, NothingIsFoundWhereThereIsNothing) {
  EXPECT_TRUE(ParseCgroupLayout({"garbage\n\n1 2 3", "x"}, "memory").places.empty());
}

}  // namespace
}  // namespace glovebox::sandbox

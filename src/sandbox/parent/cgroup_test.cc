#include "sandbox/parent/cgroup.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

// A v2 hierarchy made of plain files: enough to see what is written where.
class FakeV2Test : public testing::Test {
 public:
  FakeV2Test() : root_(fs::temp_directory_path() / ("cgroup_test." + std::to_string(::getpid()))) {
    fs::create_directories(root_);
    Touch(root_ / "cgroup.subtree_control");
  }
  ~FakeV2Test() override { fs::remove_all(root_); }

 protected:
  static void Touch(const fs::path& path) { std::ofstream(path).put('\n'); }
  static std::string Content(const fs::path& path) { return ReadFile(path.string()).value_or("?"); }

  fs::path root_;
};

TEST_F(FakeV2Test, EnablesItsControllersOnTheWayDown) {
  const CgroupLayout layout = {{{"memory", CgroupVersion::kV2, root_.string()},
                                {"pids", CgroupVersion::kV2, root_.string()}}};
  // The branch's own file exists only in a real hierarchy: the error says which one is missing.
  const Result<CgroupTree> tree = CgroupTree::Create(layout, 9);
  ASSERT_FALSE(tree.ok());
  EXPECT_NE(tree.error().message().find("glovebox-9/cgroup.subtree_control"), std::string::npos);
  EXPECT_EQ(Content(root_ / "cgroup.subtree_control").substr(0, 7), "+memory");
}

TEST(CgroupTreeTest, NamesTheControllerThatIsMissing) {
  const Result<CgroupTree> tree = CgroupTree::Create({}, 9);
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().code(), Errc::kUnsupported);
  EXPECT_NE(tree.error().message().find("'memory'"), std::string::npos);
}

// The rest needs this host's own hierarchies.
class RealCgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<CgroupTree> tree = CgroupTree::Create(DetectCgroupLayout(), index_);
    // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
    const bool must_isolate = std::getenv("GLOVEBOX_MUST_ISOLATE") != nullptr;
    if (tree.ok()) {
      tree_.emplace(std::move(*tree));
    } else if (must_isolate) {
      FAIL() << tree.error().message();
    } else {
      GTEST_SKIP() << tree.error().message();
    }
  }
  // Tests run side by side, each in a process of its own.
  // Far above every uid range, so that no server takes these branches for its own.
  const std::uint32_t index_ = 1'000'000 + static_cast<std::uint32_t>(::getpid());
  std::optional<CgroupTree> tree_;
};

TEST_F(RealCgroupTest, HoldsALimitCountsAndKills) {
  Result<CgroupSlot> slot = tree_->MakeSlot(1);
  ASSERT_TRUE(slot.ok()) << slot.error().message();
  ASSERT_TRUE(slot->Prepare({32u << 20, 4, 1.0}).ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const int fd : slot->join_fds()) {
      if (::write(fd, "0", 1) != 1) ::_exit(1);
    }
    int born = 0;
    for (int i = 0; i < 8; ++i) {
      const pid_t grandchild = ::fork();
      if (grandchild == 0) {
        while (true) ::pause();
      }
      if (grandchild > 0) ++born;
    }
    ::_exit(born);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 3) << "four at once, one of them the parent";
  EXPECT_GT(slot->Usage().processes_refused, 0u);
  EXPECT_GT(slot->Usage().memory_peak_bytes, 0u);
  EXPECT_EQ(slot->Usage().oom_kills, 0u);
  EXPECT_EQ(slot->ProcessesNow(), 3u);
  EXPECT_TRUE(slot->KillAll());
  for (int i = 0; i < 200 && slot->ProcessesNow() > 0; ++i) ::usleep(10'000);
  EXPECT_EQ(slot->ProcessesNow(), 0u);
}

TEST_F(RealCgroupTest, PreparingAgainStartsTheCountersAnew) {
  Result<CgroupSlot> slot = tree_->MakeSlot(2);
  ASSERT_TRUE(slot.ok()) << slot.error().message();
  for (const std::uint64_t megabytes : {64u, 8u, 256u}) {  // down and up
    ASSERT_TRUE(slot->Prepare({megabytes << 20, 8, 0.5}).ok());
    slot->CountFromHere();
    EXPECT_EQ(slot->Usage().cpu_us, 0u);
    EXPECT_EQ(slot->Usage().processes_refused, 0u);
  }
}

TEST_F(RealCgroupTest, SweepsWhatAKilledServerLeft) {
  Result<CgroupSlot> slot = tree_->MakeSlot(3);
  ASSERT_TRUE(slot.ok()) << slot.error().message();
  const pid_t orphan = ::fork();
  ASSERT_GE(orphan, 0);
  if (orphan == 0) {
    for (const int fd : slot->join_fds()) {
      if (::write(fd, "0", 1) != 1) ::_exit(1);
    }
    while (true) ::pause();
  }
  while (ReadFile("/proc/" + std::to_string(orphan) + "/cgroup")
             .value_or("")
             .find("glovebox-" + std::to_string(index_)) == std::string::npos) {
    ::usleep(1000);
  }
  // Reaped here because the orphan is our own child; a real leftover is init's.
  std::signal(SIGCHLD, SIG_IGN);
  const std::vector<std::string> branches = CgroupTree::BranchesOf(DetectCgroupLayout(), index_);
  ASSERT_FALSE(branches.empty());
  SweepBranches(branches);
  EXPECT_NE(::kill(orphan, 0), 0) << "the leftover process is still alive";
  for (const std::string& branch : branches) EXPECT_NE(::access(branch.c_str(), F_OK), 0) << branch;
  SweepBranches(branches);  // nothing there: nothing to do
  std::signal(SIGCHLD, SIG_DFL);
}

}  // namespace
}  // namespace glovebox::sandbox

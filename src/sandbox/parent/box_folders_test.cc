#include "sandbox/parent/box_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

namespace fs = std::filesystem;

class BoxFoldersTest : public testing::Test {
 protected:
  BoxFoldersTest() {
    char folder[] = "/tmp/box-folders-XXXXXX";
    parent_ = ::mkdtemp(folder);
  }
  ~BoxFoldersTest() override { fs::remove_all(parent_); }

  std::size_t Servers() const {
    std::size_t count = 0;
    for (const auto& base : fs::directory_iterator(parent_)) {
      for (const auto& entry : fs::directory_iterator(base.path())) {
        if (entry.is_directory()) ++count;
      }
    }
    return count;
  }

  std::string parent_;
};

TEST_F(BoxFoldersTest, ABoxGetsAnEmptyFolderOfItsOwn) {
  auto folders = BoxFolders::Create(parent_);
  ASSERT_TRUE(folders.ok()) << folders.error().message();
  const auto path = folders->Make(1, ::geteuid());
  ASSERT_TRUE(path.ok()) << path.error().message();
  struct stat info;
  ASSERT_EQ(::stat(path->c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  std::ofstream(*path + "/work/left") << "left";
  ASSERT_TRUE(folders->Make(1, ::geteuid()).ok());
  EXPECT_FALSE(fs::exists(*path + "/work/left"));
}

TEST_F(BoxFoldersTest, TheEndRemovesEverythingHoweverDeepAndWhateverItsMode) {
  {
    auto folders = BoxFolders::Create(parent_);
    ASSERT_TRUE(folders.ok());
    const std::string path = folders->Make(1, ::geteuid()).value();
    UniqueFd at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int depth = 0; depth < 3'000; ++depth) {  // far beyond PATH_MAX
      ASSERT_EQ(::mkdirat(at.get(), "deeper-and-deeper", 0700), 0);
      at.reset(::openat(at.get(), "deeper-and-deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    ASSERT_EQ(::mkdir((path + "/work/closed").c_str(), 0), 0);
    ASSERT_EQ(::symlink("/etc", (path + "/work/link").c_str()), 0);
    EXPECT_EQ(Servers(), 1u);
  }
  EXPECT_EQ(Servers(), 0u);
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(BoxFoldersTest, WhatAKilledServerLeftIsSweptByTheNextAndALiveOnesIsNot) {
  auto alive = BoxFolders::Create(parent_);
  ASSERT_TRUE(alive.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    auto folders = BoxFolders::Create(parent_);
    if (folders.ok() && folders->Make(1, ::geteuid()).ok()) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(Servers(), 2u);
  const auto next = BoxFolders::Create(parent_);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(Servers(), 2u);
  EXPECT_TRUE(alive->Make(2, ::geteuid()).ok());
}

TEST_F(BoxFoldersTest, AFolderOfSomebodyElsesIsNotUsed) {
  const std::string base = parent_ + "/glovebox-" + std::to_string(::geteuid());
  ASSERT_EQ(::mkdir(base.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(base.c_str(), 0777), 0);
  EXPECT_FALSE(BoxFolders::Create(parent_).ok());
}

TEST_F(BoxFoldersTest, MeasuresBytesAndNoticesWhatItCannotMeasure) {
  const auto measure = [this] {
    const UniqueFd fd(::open(parent_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return MeasureFolder(fd.get());
  };
  fs::create_directories(parent_ + "/a/b");
  std::ofstream(parent_ + "/a/b/file") << std::string(1 << 20, 'x');
  EXPECT_TRUE(measure().complete);
  EXPECT_GE(measure().bytes, 1u << 20);
  EXPECT_EQ(measure().entries, 3u);
  std::string deep = parent_;
  for (int i = 0; i < kFolderDepthMax + 2; ++i) deep += "/d";
  fs::create_directories(deep);
  EXPECT_FALSE(measure().complete);
}

}  // namespace
}  // namespace glovebox::sandbox

#include "container/state_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "container/test_folder.h"

namespace glovebox::container {
namespace {

namespace fs = std::filesystem;

class StateFolderTest : public FolderTest {
 protected:
  std::size_t Count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
};

TEST_F(StateFolderTest, GoesWithItsServer) {
  {
    auto folder = StateFolder::Open(folder_);
    ASSERT_TRUE(folder.ok()) << folder.error().message();
    EXPECT_TRUE(fs::is_directory(folder->runtime_folder()));
    EXPECT_EQ(Count(), 1u);
  }
  EXPECT_EQ(Count(), 0u);
}

TEST_F(StateFolderTest, ALivingServerIsLeftAlone) {
  auto first = StateFolder::Open(folder_);
  auto second = StateFolder::Open(folder_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
  EXPECT_EQ(Count(), 2u);
}

TEST_F(StateFolderTest, WhatADeadServerNotedIsRunAndItsFolderRemoved) {
  const std::string dead = folder_.string() + "/1-1";
  fs::create_directories(dead + "/c-x");
  const std::string trace = folder_.string() + "/trace";
  const auto write = [](const std::string& path, const std::string& text) {
    FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fputs(text.c_str(), file);
    std::fclose(file);
  };
  write(dead + "/lock", "");
  write(dead + "/c-x/delete", "/usr/bin/touch\n" + trace + "\n");
  auto folder = StateFolder::Open(folder_);
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(fs::exists(trace)) << "the command that ends a container was not run";
  EXPECT_FALSE(fs::exists(dead));
}

TEST_F(StateFolderTest, AGroupThatARuntimeDidNotNoteIsRemoved) {
  const std::string id = "glovebox-state-folder-test-" + std::to_string(::getpid());
  const std::string group = "/sys/fs/cgroup/devices/" + id;
  if (::mkdir(group.c_str(), 0755) != 0) {
    GTEST_SKIP() << "no group for devices can be made here, by a runtime neither";
  }
  const std::string dead = folder_.string() + "/1-1";
  fs::create_directories(dead + "/c-" + id);
  ASSERT_TRUE(StateFolder::Open(folder_).ok());
  EXPECT_FALSE(fs::exists(group)) << "of a dead server";
  ASSERT_EQ(::mkdir(group.c_str(), 0755), 0);
  auto folder = StateFolder::Open(folder_);
  ASSERT_TRUE(folder.ok());
  folder->RemoveContainer(id);
  EXPECT_FALSE(fs::exists(group)) << "of a living one";
  ::rmdir(group.c_str());
}

TEST_F(StateFolderTest, AContainerIsNotedBeforeItCanBeStarted) {
  auto folder = StateFolder::Open(folder_);
  ASSERT_TRUE(folder.ok());
  const auto made =
      folder->AddContainer("id", {{"config.json", "{}\n"}}, {"/bin/true", "an argument"});
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(fs::exists(*made + "/config.json"));
  EXPECT_TRUE(fs::exists(*made + "/delete"));
  folder->RemoveContainer("id");
  EXPECT_FALSE(fs::exists(*made));
}

}  // namespace
}  // namespace glovebox::container

#include "container/state_folder.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

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

TEST_F(StateFolderTest, WhatAnEngineKeepsOfAContainerGoesWithIt) {
  auto folder = StateFolder::Open(folder_);
  ASSERT_TRUE(folder.ok());
  const std::string id = "glovebox-" + folder->server() + "-7";
  ASSERT_TRUE(folder->AddEngine(id, {{"hooks/a.json", "{}"}}).ok());
  EXPECT_EQ(Read(fs::path(folder->engine_folder(id)) / "hooks/a.json"), "{}");
  EXPECT_LE(std::string(kStateParent).size() + 1 + folder->server().size() + 9, 48u)
      << "podman takes no longer names, of a million containers";
  folder->RemoveContainer(id);
  EXPECT_FALSE(fs::exists(folder->engine_folder(id)));
}

TEST_F(StateFolderTest, WhatAnEngineHoldsForAServerIsRemovedAtItsEnd) {
  const fs::path mark = folder_ / "mark";
  {
    auto folder = StateFolder::Open((folder_ / "state").string());
    ASSERT_TRUE(folder.ok());
    ASSERT_TRUE(folder->AddImage("1", {"/usr/bin/touch", mark.string()}).ok());
    EXPECT_FALSE(fs::exists(mark));
  }
  EXPECT_TRUE(fs::exists(mark));
}

TEST_F(StateFolderTest, AnEnginesProcessesOfADeadServerAreEnded) {
  const std::string dead = folder_.string() + "/1-1";
  fs::create_directories(dead);
  const auto start = [](const std::string& word) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::execl("/bin/sleep", word.c_str(), "60", nullptr);
    ::_exit(1);
  };
  const pid_t theirs = start(dead + "/e1/root");
  const pid_t other = start(dead + "0/e1/root");
  ::usleep(100'000);  // until both are what they become
  int status = 0;
  std::thread reaper([&] { ::waitpid(theirs, &status, 0); });
  SweepStateFolder(dead);
  reaper.join();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::kill(other, 0), 0) << "of another folder";
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

}  // namespace
}  // namespace glovebox::container

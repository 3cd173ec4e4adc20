#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"

namespace glovebox::container {

// A folder that lives as long as the test.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/container_test.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes a file, and the folders above it.
  static void Write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static std::string Read(const std::filesystem::path& path) {
    return ReadFile(path.string()).value_or("(not there)");
  }
  static bool IsThere(const std::filesystem::path& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path));
  }
  static mode_t ModeOf(const std::filesystem::path& path) {
    struct stat facts = {};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  }

  std::filesystem::path folder_;
};

}  // namespace glovebox::container

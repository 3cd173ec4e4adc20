#include "python/zygote/granted_folders.h"

#include <gtest/gtest.h>

namespace glovebox::zygote {
namespace {

const GrantedFolders& Folders() {
  static const GrantedFolders folders({"/usr/lib/python3.11", "/etc/passwd", "/dev/null"},
                                      {"/work", "/tmp", "/dev/null"});
  return folders;
}

TEST(GrantedFoldersTest, WhatLiesBelowIsGranted) {
  EXPECT_TRUE(Folders().Allows("/usr/lib/python3.11/os.py", "/work", false));
  EXPECT_TRUE(Folders().Allows("/etc/passwd", "/work", false));
  EXPECT_TRUE(Folders().Allows("/work/a/b", "/work", true));
  EXPECT_TRUE(Folders().Allows("/dev/null", "/work", true));
}

TEST(GrantedFoldersTest, OtherNamesAreNot) {
  EXPECT_FALSE(Folders().Allows("/etc/shadow", "/work", false));
  EXPECT_FALSE(Folders().Allows("/workshop/a", "/work", true));
  EXPECT_FALSE(Folders().Allows("/", "/work", false));
  EXPECT_FALSE(Folders().Allows("/usr/lib/python3.11/os.py", "/work", true)) << "read only";
}

TEST(GrantedFoldersTest, RelativeNamesStartHere) {
  EXPECT_TRUE(Folders().Allows("data.csv", "/work", true));
  EXPECT_TRUE(Folders().Allows("./a//../data.csv", "/work/b", true));
  EXPECT_FALSE(Folders().Allows("../etc/shadow", "/work", false));
  EXPECT_FALSE(Folders().Allows("../../../../etc/shadow", "/work/a", false));
  EXPECT_TRUE(Folders().Allows("../tmp/x", "/work", true));
}

TEST(GrantedFoldersTest, NothingKnownMeansNothingSaid) {
  EXPECT_TRUE(GrantedFolders().Allows("/etc/shadow", "/work", true));
}

}  // namespace
}  // namespace glovebox::zygote

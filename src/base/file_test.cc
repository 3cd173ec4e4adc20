#include "base/file.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

TEST(FileTest, ReadsAWholeFile) {
  EXPECT_NE(ReadFile("/proc/self/status").value_or("").find("Name:"), std::string::npos);
}

TEST(FileTest, AMissingFileIsNothing) { EXPECT_FALSE(ReadFile("/no/such/file").has_value()); }

TEST(FileTest, AFileWithoutEndIsNothing) {
  EXPECT_FALSE(ReadFile("/dev/zero").has_value());
  EXPECT_EQ(errno, EFBIG);
}

TEST(FileTest, AFailedWriteNamesTheFile) {
  const Status status = WriteExisting("/no/such/file", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("/no/such/file"), std::string::npos);
}

TEST(FileTest, WritesAnExistingFile) { EXPECT_TRUE(WriteExisting("/dev/null", "x").ok()); }

}  // namespace
}  // namespace glovebox

#include "app/environment_file.h"

#include <gtest/gtest.h>

namespace glovebox {
namespace {

std::string ValueOf(std::string_view line) {
  const auto lines = ReadEnvironmentFile(line);
  return lines.empty() ? "none" : lines.back().name + "=" + lines.back().value;
}

TEST(EnvironmentFileTest, ReadsAssignmentsAsShellsWriteThem) {
  EXPECT_EQ(ValueOf("A=b"), "A=b");
  EXPECT_EQ(ValueOf("  export A = b c \r"), "A=b c");
  EXPECT_EQ(ValueOf("A=\"b # c\" # d"), "A=b # c");
  EXPECT_EQ(ValueOf("A='b\"c'"), "A=b\"c");
  EXPECT_EQ(ValueOf("A=b#c"), "A=b#c");
  EXPECT_EQ(ValueOf("A=b # c"), "A=b");
  EXPECT_EQ(ValueOf("A= # c"), "A=");
  EXPECT_EQ(ValueOf("A=b=c"), "A=b=c");
  EXPECT_EQ(ValueOf("A='open"), "A='open");
  EXPECT_EQ(ValueOf("A=$B"), "A=$B");
}

TEST(EnvironmentFileTest, SkipsEverythingElseAndCountsLines) {
  const auto lines = ReadEnvironmentFile("# A=1\n\nnothing\nB=2\n#\nC=3");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 4);
  EXPECT_EQ(lines[1].name, "C");
  EXPECT_EQ(lines[1].line, 6);
}

}  // namespace
}  // namespace glovebox

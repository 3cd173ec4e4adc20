#include "container/program.h"

#include <chrono>

#include <gtest/gtest.h>

namespace glovebox::container {
namespace {

using std::chrono::milliseconds;

TEST(ProgramTest, TellsHowItEndedAndWhatItSaid) {
  const auto said = RunProgram({"/usr/bin/printf", "hello"}, milliseconds(5000));
  ASSERT_TRUE(said.ok());
  EXPECT_TRUE(said->succeeded());
  EXPECT_EQ(said->output, "hello");
  const auto failed = RunProgram({"/usr/bin/false"}, milliseconds(5000));
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->exit_code, 1);
}

TEST(ProgramTest, OneThatHangsIsEndedInTime) {
  const auto start = std::chrono::steady_clock::now();
  const auto end = RunProgram({"/usr/bin/sleep", "60"}, milliseconds(50));
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->in_time);
  EXPECT_FALSE(end->succeeded());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ProgramTest, OneThatIsNotThereIsAnError) {
  EXPECT_FALSE(RunProgram({"/nonexistent/program"}, milliseconds(50)).ok());
  EXPECT_EQ(FindProgram("no-such-program-anywhere"), "");
  EXPECT_NE(FindProgram("sleep"), "");
}

}  // namespace
}  // namespace glovebox::container

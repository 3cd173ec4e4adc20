#include "audit/command_target.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::audit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Attempt RunAt(Target& target, const std::string& code) {
  const std::unique_ptr<RunningProgram> program = target.Start(code);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (program->attempt() == nullptr && std::chrono::steady_clock::now() < end) target.Turn(5);
  return program->attempt() == nullptr ? Attempt{false, true, "", "hangs"} : *program->attempt();
}

TEST(SplitCommand, KnowsQuotesAndNothingElseOfAShell) {
  EXPECT_THAT(SplitCommand("bwrap --ro-bind / / --").value(),
              ElementsAre("bwrap", "--ro-bind", "/", "/", "--"));
  EXPECT_THAT(SplitCommand(" a 'b c' \"d \\\" e\" f\\ g '' $HOME ").value(),
              ElementsAre("a", "b c", "d \" e", "f g", "", "$HOME"));
  EXPECT_FALSE(SplitCommand("a 'b").ok());
  EXPECT_FALSE(SplitCommand("   ").ok());
}

TEST(CommandTarget, RunsTheMachinesPythonBehindAPrefix) {
  const auto host = MakeCommandTarget({});
  EXPECT_THAT(RunAt(*host, "print(6 * 7)").output, HasSubstr("42"));
  const auto marked = MakeCommandTarget({"env", "AUDIT_PREFIX=here"});
  EXPECT_THAT(RunAt(*marked, "import os; print(os.environ['AUDIT_PREFIX'])").output,
              HasSubstr("here"));
}

TEST(CommandTarget, SaysWhatWentWrong) {
  const auto host = MakeCommandTarget({});
  EXPECT_EQ(RunAt(*host, "raise ValueError('so it is')").problem, "ValueError: so it is");
  EXPECT_EQ(RunAt(*host, "import os; os.kill(os.getpid(), 9)").problem, "ended by signal 9");
  const auto nowhere = MakeCommandTarget({"no-such-jail"});
  const Attempt attempt = RunAt(*nowhere, "print(1)");
  EXPECT_FALSE(attempt.ran);
  EXPECT_THAT(attempt.problem, HasSubstr("no-such-jail"));
}

}  // namespace
}  // namespace glovebox::audit

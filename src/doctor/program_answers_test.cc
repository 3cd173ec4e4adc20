#include "doctor/program_answers.h"

#include <gtest/gtest.h>

namespace glovebox::doctor {
namespace {

using std::chrono::milliseconds;

TEST(ProgramAnswersTest, TellsWhatEachSaid) {
  boost::asio::io_context context(1);
  ProgramAnswers answers(context);
  const std::size_t one = answers.Ask({"/bin/echo", "one"});
  const std::size_t two = answers.Ask({"/bin/echo", "two"});
  answers.Await(milliseconds(10'000));
  EXPECT_EQ(answers.answer(one), "one\n");
  EXPECT_EQ(answers.answer(two), "two\n");
}

TEST(ProgramAnswersTest, WhoFailsOrIsMissingOrIsSlowSaysNothing) {
  boost::asio::io_context context(1);
  ProgramAnswers answers(context);
  const std::size_t missing = answers.Ask({"/no/such/program"});
  const std::size_t failed = answers.Ask({"/bin/sh", "-c", "echo words; exit 3"});
  const std::size_t slow = answers.Ask({"/bin/sh", "-c", "echo words; sleep 60"});
  const auto start = std::chrono::steady_clock::now();
  answers.Await(milliseconds(500));
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(5'000));
  EXPECT_EQ(answers.answer(missing), "");
  EXPECT_EQ(answers.answer(failed), "");
  EXPECT_EQ(answers.answer(slow), "");
}

TEST(ProgramAnswersTest, WhoSaysTooMuchIsCut) {
  boost::asio::io_context context(1);
  ProgramAnswers answers(context);
  const std::size_t much = answers.Ask({"/bin/sh", "-c", "head -c 100000 /dev/zero"});
  answers.Await(milliseconds(10'000));
  EXPECT_LE(answers.answer(much).size(), ProgramAnswers::kAnswerBytesMax);
}

TEST(FindProgramTest, LooksInPath) {
  EXPECT_NE(FindProgram("sh"), "");
  EXPECT_EQ(FindProgram("no-such-program"), "");
}

}  // namespace
}  // namespace glovebox::doctor

#include "base/result.h"

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Error(Errc::kInvalidArgument, "odd");
  return number / 2;
}

Result<int> Quarter(int number) { return Half(TRY(Half(number))); }

Status Accept(int number) {
  TRY(Half(number));
  return {};
}

Status AcceptBoth(int first, int second) {
  TRY(Accept(first));
  TRY(Accept(second));
  return {};
}

Result<std::unique_ptr<int>> Own(int number) {
  auto owned = TRY(Result<std::unique_ptr<int>>(std::make_unique<int>(TRY(Half(number)))));
  return owned;
}

TEST(ResultTest, HoldsTheValue) {
  const Result<int> half = Half(8);
  ASSERT_TRUE(half.ok());
  EXPECT_TRUE(static_cast<bool>(half));
  EXPECT_EQ(half.value(), 4);
  EXPECT_EQ(*half, 4);
}

TEST(ResultTest, HoldsTheReasonThereIsNoValue) {
  const Result<int> half = Half(7);
  ASSERT_FALSE(half.ok());
  EXPECT_FALSE(static_cast<bool>(half));
  EXPECT_EQ(half.error().code(), Errc::kInvalidArgument);
  EXPECT_EQ(half.error().message(), "odd");
  EXPECT_EQ(half.error().sys_errno(), 0);
}

TEST(ResultTest, ReachesIntoTheValue) {
  Result<std::string> text = std::string("box");
  EXPECT_EQ(text->size(), 3u);
  text->push_back('.');
  EXPECT_EQ(*text, "box.");
}

TEST(ResultTest, GivesAwayAValueThatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> owned = Own(10);
  ASSERT_TRUE(owned.ok());
  const std::unique_ptr<int> taken = std::move(owned).value();
  EXPECT_EQ(*taken, 5);
}

TEST(TryTest, YieldsTheValueAlsoWhenNested) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(**Own(6), 3);
}

TEST(TryTest, LeavesWithTheFirstError) {
  EXPECT_EQ(Quarter(7).error().message(), "odd");
  EXPECT_EQ(Quarter(6).error().message(), "odd");
  EXPECT_FALSE(Own(5).ok());
}

TEST(StatusTest, SucceedsWithoutAValue) {
  EXPECT_TRUE(Accept(2).ok());
  EXPECT_TRUE(AcceptBoth(2, 4).ok());
  EXPECT_FALSE(AcceptBoth(1, 4).ok());
  EXPECT_EQ(AcceptBoth(2, 3).error().message(), "odd");
}

TEST(ErrorTest, SaysWhichActFailedAndHow) {
  const Error error = Error::FromErrno("open /nowhere", ENOENT);
  EXPECT_EQ(error.code(), Errc::kSystem);
  EXPECT_EQ(error.sys_errno(), ENOENT);
  EXPECT_EQ(error.message(), "open /nowhere: No such file or directory");
}

TEST(ErrorTest, ReadsFromTheOutsideIn) {
  const Error error =
      Error::FromErrno("clone3", EPERM).Within("new namespaces").Within("starting the zygote");
  EXPECT_EQ(error.message(),
            "starting the zygote: new namespaces: clone3: Operation not permitted");
  EXPECT_EQ(error.sys_errno(), EPERM);
}

TEST(CheckTest, LetsAnInvariantThatHoldsPass) {
  int evaluated = 0;
  CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, AbortsAndSaysWhere) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "internal error: 1 \\+ 1 == 3 does not hold .*result_test.cc");
}

}  // namespace
}  // namespace glovebox

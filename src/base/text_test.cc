#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

using testing::ElementsAre;

TEST(TextTest, SplitKeepsEmptyPieces) {
  EXPECT_THAT(Split("a::b", ':'), ElementsAre("a", "", "b"));
  EXPECT_THAT(Split("", ':'), ElementsAre(""));
}

TEST(TextTest, TrimTakesBlanksFromBothSides) {
  EXPECT_EQ(Trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(TextTest, ValidUtf8IsLeftAlone) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  EXPECT_EQ(ToUtf8(text), text);
}

TEST(TextTest, WhatIsNotUtf8IsReplaced) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(ToUtf8("\xff"), mark);
  EXPECT_EQ(ToUtf8("\xc3"), mark) << "cut at the end";
  EXPECT_EQ(ToUtf8("\xe2\x82z"), mark + "z") << "one mark for one broken sequence";
  EXPECT_EQ(ToUtf8("\xed\xa0\x80"), mark + mark + mark) << "a surrogate";
  EXPECT_EQ(ToUtf8("\xc0\xaf"), mark + mark) << "an overlong slash";
  EXPECT_EQ(ToUtf8("\xf4\x90\x80\x80"), mark + mark + mark + mark) << "beyond Unicode";
}

}  // namespace
}  // namespace glovebox

#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

TEST(Utf8Test, TellsInvalidFromIncomplete) {
  EXPECT_EQ(NextUtf8("\xe2\x82").kind, Utf8Kind::kIncomplete);
  EXPECT_EQ(NextUtf8("\xe2\x82\xac").length, 3u);
  EXPECT_EQ(NextUtf8("\xe2x").kind, Utf8Kind::kInvalid);
  EXPECT_EQ(NextUtf8("\xc0\x80").kind, Utf8Kind::kInvalid);
  EXPECT_EQ(NextUtf8("\xf4\x90\x80\x80").kind, Utf8Kind::kInvalid);
  EXPECT_EQ(NextUtf8("\xed\xa0\x80").kind, Utf8Kind::kInvalid);
}

TEST(Utf8Test, CountsAndCutsByCodePoint) {
  const std::string_view text = "a\xc3\xbc\xf0\x9f\x90\x8dz";
  EXPECT_EQ(CountCodePoints(text), 4u);
  EXPECT_EQ(PrefixOfCodePoints(text, 3), 7u);
  EXPECT_EQ(PrefixOfCodePoints(text, 99), text.size());
}

TEST(Utf8Test, ValidTextIsLeftAlone) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  EXPECT_EQ(ToUtf8(text), text);
}

TEST(Utf8Test, WhatIsNotUtf8IsReplaced) {
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

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

TEST(TextTest, SizesSpeakDockersLanguage) {
  EXPECT_EQ(ParseSize("128m").value(), 128ull << 20);
  EXPECT_EQ(ParseSize("64K").value(), 64ull << 10);
  EXPECT_EQ(ParseSize("2g").value(), 2ull << 30);
  EXPECT_EQ(ParseSize("12345").value(), 12345u);
  EXPECT_EQ(ParseSize("7b").value(), 7u);
  for (const char* text : {"", "m", "-1m", "+1m", "1.5g", "1mb", "1 m", " 1m", "0x10", "1t",
                           "99999999999999999999", "17179869184g"}) {
    EXPECT_FALSE(ParseSize(text).ok()) << text;
  }
}

TEST(SizeTextTest, IsTheShortestFormThatReadsBack) {
  EXPECT_EQ(SizeText(0), "0");
  EXPECT_EQ(SizeText(1023), "1023");
  EXPECT_EQ(SizeText(1536), "1536");
  EXPECT_EQ(SizeText(64u << 10), "64k");
  EXPECT_EQ(SizeText(128u << 20), "128m");
  EXPECT_EQ(SizeText(4ull << 30), "4g");
  for (const std::uint64_t bytes : {1ull, 1025ull, 100'000ull << 10, 3ull << 30}) {
    EXPECT_EQ(*ParseSize(SizeText(bytes)), bytes);
  }
}

}  // namespace
}  // namespace glovebox

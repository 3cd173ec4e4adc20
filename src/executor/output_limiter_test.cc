#include "executor/output_limiter.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

CapturedStream Capture(std::uint32_t chars_max, const std::vector<std::string>& pieces) {
  OutputLimiter limiter(chars_max);
  for (const std::string& piece : pieces) limiter.Append(piece);
  return std::move(limiter).Finish();
}

TEST(OutputLimiterTest, KeepsWhatFits) {
  const CapturedStream stream = Capture(5, {"ab", "cde"});
  EXPECT_EQ(stream.text, "abcde");
  EXPECT_FALSE(stream.truncated());
  EXPECT_EQ(stream.tail, "");
}

TEST(OutputLimiterTest, MarksWhatWasCutAndKeepsTheTail) {
  const CapturedStream stream = Capture(3, {"abc", "def"});
  EXPECT_EQ(stream.text, "abc\n[Output truncated]");
  EXPECT_EQ(stream.bytes_dropped, 3u);
  EXPECT_EQ(stream.tail, "abcdef");
}

TEST(OutputLimiterTest, TheContractsArithmetic) {
  const CapturedStream stream = Capture(1048576, {std::string(1048577, 'x')});
  EXPECT_EQ(stream.text.size(), 1048595u);
}

TEST(OutputLimiterTest, CountsCharactersNotBytes) {
  const CapturedStream stream = Capture(2, {"\xc3\xa9\xc3\xa9\xc3\xa9"});
  EXPECT_EQ(stream.text, "\xc3\xa9\xc3\xa9\n[Output truncated]");
}

TEST(OutputLimiterTest, NeverResumesAfterAHole) {
  // The second character does not fit; a later continuation byte must not slip in behind the first.
  const CapturedStream stream = Capture(1, {"a\xc3", "\xa9"});
  EXPECT_EQ(stream.text, "a\n[Output truncated]");
}

TEST(OutputLimiterTest, RepairsInvalidUtf8) {
  EXPECT_EQ(Capture(10, {"a\xff"
                         "b"})
                .text,
            "a\xef\xbf\xbd"
            "b");
}

TEST(OutputLimiterTest, IsBoundedAgainstStrayContinuationBytes) {
  OutputLimiter limiter(10);
  for (int i = 0; i < 1000; ++i) limiter.Append(std::string(100, '\x80'));
  const CapturedStream stream = std::move(limiter).Finish();
  EXPECT_LE(stream.text.size(), std::size_t{40} * 3 + kTruncationMarker.size());
}

TEST(OutputLimiterTest, TailIsTheLastBytesOnACharacterBoundary) {
  std::string text(10'000, 'x');
  for (int i = 0; i < 3000; ++i) text += "\xc3\xa9";
  const CapturedStream stream = Capture(1, {text, "z"});
  EXPECT_LE(stream.tail.size(), kTailBytes);
  EXPECT_EQ(stream.tail.back(), 'z');
  EXPECT_EQ(stream.tail.substr(0, 2), "\xc3\xa9");
}

TEST(OutputLimiterTest, TellsAFlood) {
  OutputLimiter limiter(9);
  limiter.Append(std::string(640, 'x'));
  EXPECT_FALSE(limiter.flooded());
  limiter.Append("x");
  EXPECT_TRUE(limiter.flooded());
}

}  // namespace
}  // namespace glovebox

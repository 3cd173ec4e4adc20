#include "transport/line_framing.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

constexpr const char* kTooLong = "<too long>";

void Drain(LineFramer& framer, std::vector<std::string>& lines) {
  while (auto frame = framer.Next()) {
    lines.emplace_back(frame->kind == LineFramer::Kind::kLine ? std::string(frame->text)
                                                              : kTooLong);
  }
}

// Feeds `stream` in pieces of `piece` bytes and returns every frame.
std::vector<std::string> Frames(std::string_view stream, std::size_t piece, std::size_t max) {
  LineFramer framer(max);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    framer.Append(stream.substr(at, piece));
    Drain(framer, lines);
  }
  if (auto frame = framer.Finish()) {
    lines.emplace_back(frame->kind == LineFramer::Kind::kLine ? std::string(frame->text)
                                                              : kTooLong);
  }
  return lines;
}

TEST(LineFramerTest, GivesTheSameLinesWhereverTheStreamIsSplit) {
  const std::string stream = "{\"a\":1}\n\n{\"b\":\"\xe2\x80\xa8\"}\r\n  \n12345678901\nlast";
  const std::vector<std::string> expected = {"{\"a\":1}", "{\"b\":\"\xe2\x80\xa8\"}", "12345678901",
                                             "last"};
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    EXPECT_EQ(Frames(stream, piece, 11), expected) << "pieces of " << piece;
  }
}

TEST(LineFramerTest, ReportsALineThatIsTooLongOnceAndGoesOnAfterIt) {
  const std::string stream =
      "ok\n" + std::string(100, 'x') + "\nnext\n" + std::string(12, 'y') + "\n";
  const std::vector<std::string> expected = {"ok", kTooLong, "next", kTooLong};
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    EXPECT_EQ(Frames(stream, piece, 10), expected) << "pieces of " << piece;
  }
}

TEST(LineFramerTest, CountsTheLineWithoutItsEnd) {
  for (std::size_t piece = 1; piece <= 14; ++piece) {
    EXPECT_EQ(Frames("1234567890\r\n12\n", piece, 10),
              (std::vector<std::string>{"1234567890", "12"}));
    EXPECT_EQ(Frames("12345678901\n12\n", piece, 10), (std::vector<std::string>{kTooLong, "12"}));
  }
}

TEST(LineFramerTest, ReportsATooLongLineBeforeItsEndArrives) {
  LineFramer framer(10);
  framer.Append(std::string(50, 'x'));
  const auto frame = framer.Next();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->kind, LineFramer::Kind::kTooLong);
  framer.Append(std::string(50, 'x'));
  EXPECT_FALSE(framer.Next().has_value());
  EXPECT_FALSE(framer.Finish().has_value());
}

TEST(LineFramerTest, HasNothingLeftAfterACompleteStream) {
  EXPECT_TRUE(Frames("", 1, 10).empty());
  EXPECT_TRUE(Frames("\n\r\n", 1, 10).empty());
}

}  // namespace
}  // namespace glovebox

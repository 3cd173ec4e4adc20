#include "mcp/sse_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

// "type|data" of every event; "error" when the stream is refused.
std::vector<std::string> Drain(SseReader& reader) {
  std::vector<std::string> events;
  while (true) {
    auto next = reader.Next();
    if (!next.ok()) {
      events.push_back("error: " + next.error().message());
      return events;
    }
    if (!*next) return events;
    events.push_back((*next)->type + '|' + (*next)->data);
  }
}

std::vector<std::string> Read(std::string_view text, std::size_t event_bytes_max = 1000) {
  SseReader reader(event_bytes_max);
  reader.Append(text);
  return Drain(reader);
}

using Events = std::vector<std::string>;

TEST(SseReaderTest, ReadsEvents) {
  EXPECT_EQ(Read("data: one\n\ndata:two\n\n"), (Events{"message|one", "message|two"}));
  EXPECT_EQ(Read("event: x\ndata: 1\ndata: 2\ndata\n\n"), (Events{"x|1\n2\n"}));
  EXPECT_EQ(Read("data:  two blanks\n\n"), (Events{"message| two blanks"}));
  EXPECT_EQ(Read(": comment\nunknown: x\nnothing\ndata: a\n\n"), (Events{"message|a"}));
  EXPECT_EQ(Read("\xEF\xBB\xBF"
                 "data: after a mark\n\n"),
            (Events{"message|after a mark"}));
}

TEST(SseReaderTest, AnEventWithoutDataOrEndIsNone) {
  EXPECT_EQ(Read("event: x\n\ndata: a\n\n"), (Events{"message|a"}));
  EXPECT_EQ(Read("data: cut off\n"), Events{});
  EXPECT_EQ(Read("data:\n\n"), (Events{"message|"}));
}

TEST(SseReaderTest, EveryLineEndAndEverySplitMeansTheSame) {
  const Events expected = {"message|a\nb", "t|c"};
  for (const std::string end : {"\n", "\r", "\r\n"}) {
    std::string text;
    for (const char* line : {"id: 1", "data: a", "data: b", "", ":c", "event: t", "data: c", ""}) {
      text += line + end;
    }
    text += ":last" + end;
    for (std::size_t first = 0; first <= text.size(); ++first) {
      for (std::size_t second = first; second <= text.size(); ++second) {
        SseReader reader(1000);
        Events events;
        for (const auto& piece :
             {text.substr(0, first), text.substr(first, second - first), text.substr(second)}) {
          reader.Append(piece);
          for (auto& event : Drain(reader)) events.push_back(event);
        }
        ASSERT_EQ(events, expected) << first << ' ' << second;
        ASSERT_EQ(reader.last_event_id(), "1");
      }
    }
  }
}

TEST(SseReaderTest, IdsAndRetry) {
  SseReader reader(1000);
  reader.Append("id: a\nretry: 250\ndata: x\n");
  EXPECT_EQ(Drain(reader), Events{});
  EXPECT_EQ(reader.last_event_id(), "") << "its event has not ended";
  reader.Append("\n");
  EXPECT_EQ(Drain(reader), (Events{"message|x"}));
  EXPECT_EQ(reader.last_event_id(), "a");
  EXPECT_EQ(reader.retry(), std::chrono::milliseconds(250));
  using std::string_view_literals::operator""sv;
  reader.Append("id: with\0nul\nretry: -1\nretry: 1s\nretry: 99999999999999999999\n"sv);
  EXPECT_EQ(Drain(reader), Events{});
  reader.Append("data: y\n\n");
  EXPECT_EQ(Drain(reader), (Events{"message|y"}));
  EXPECT_EQ(reader.last_event_id(), "a");
  EXPECT_EQ(reader.retry(), std::chrono::milliseconds(250));
  reader.Append("id\ndata: z\n\nid: " + std::string(SseReader::kIdBytesMax + 1, 'i') + "\n\n");
  EXPECT_EQ(Drain(reader), (Events{"message|z"}));
  EXPECT_EQ(reader.last_event_id(), "")
      << "an empty id takes the last one back; a long one is none";
}

TEST(SseReaderTest, AResumedStreamBeginsAfreshAndKeepsItsPlace) {
  SseReader reader(1000);
  reader.Append("id: 1\ndata: a\n\nid: 2\nevent: cut\ndata: b\ndata: c");
  EXPECT_EQ(Drain(reader), (Events{"message|a"}));
  reader.Resume();
  EXPECT_EQ(reader.last_event_id(), "1");
  reader.Append("data: d\n\n");
  EXPECT_EQ(Drain(reader), (Events{"message|d"}));
  EXPECT_EQ(reader.last_event_id(), "1");
}

TEST(SseReaderTest, ABoundIsABound) {
  const std::string refused = "error: an event of the stream is longer than 10 bytes";
  EXPECT_EQ(Read("data: 0123456789\n\n", 10), (Events{"message|0123456789"}));
  EXPECT_EQ(Read("data: 01234567890\n\n", 10), (Events{refused}));
  EXPECT_EQ(Read("data: 01234\ndata: 56789\n\n", 10), (Events{refused}));
  EXPECT_EQ(Read("data: ok\n\nno end in sight", 10), (Events{"message|ok", refused}));
  SseReader reader(10);
  reader.Append("data: 01234567890\n");
  EXPECT_EQ(Drain(reader), (Events{refused}));
  reader.Append("\ndata: ok\n\n");
  EXPECT_EQ(Drain(reader), (Events{refused})) << "what follows is out of step";
}

}  // namespace
}  // namespace glovebox::mcp

#include "mcp/event_log.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

constexpr std::size_t kCost = EventLog::kEventOverhead + 1;  // of an event of one byte

std::string TextAfter(const EventLog& log, EventId last) {
  const auto events = log.After(last);
  if (!events) return "error: " + events.error().message();
  std::string text;
  for (const EventLog::Event& event : *events) text += event.data;
  return text;
}

EventId Add(EventLog& log, std::uint64_t stream, std::string data) {
  const EventId id = log.NextId(stream);
  log.Keep(id, std::move(data));
  return id;
}

TEST(EventIdTest, WhatWeWriteIsWhatWeRead) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const EventId id : {EventId{0, 0}, EventId{1, 20}, EventId{most, most}}) {
    EXPECT_EQ(ParseEventId(ToText(id)), id);
  }
  EXPECT_EQ(ToText({3, 14}), "3-14");
}

TEST(EventIdTest, EverythingElseIsRefused) {
  for (const std::string text :
       {"", "-", "1", "1-", "-1", "1-2-3", "01-2", "1-02", "1--2", "+1-2", " 1-2", "1-2 ", "1-2x",
        "0x1-2", "18446744073709551616-0", "0-18446744073709551616", "1_2", "a-b"}) {
    EXPECT_EQ(ParseEventId(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseEventId(std::string("1-2\0", 4)), std::nullopt);
  EXPECT_EQ(ParseEventId(std::string(1 << 20, '1')), std::nullopt);
}

TEST(EventLogTest, ReplaysOnlyThatStreamAndOnlyWhatCameAfter) {
  EventLog log(1000);
  const auto first = log.OpenStream();
  const auto second = log.OpenStream();
  ASSERT_NE(first, second);
  const EventId a = Add(log, first, "a");
  Add(log, second, "x");
  Add(log, first, "b");
  Add(log, first, "c");
  EXPECT_EQ(TextAfter(log, a), "bc");
  EXPECT_EQ(TextAfter(log, {second, 0}), "");
}

TEST(EventLogTest, AnEventWithoutTextCountsInTheSequence) {
  EventLog log(1000);
  const auto stream = log.OpenStream();
  const EventId priming = log.NextId(stream);
  Add(log, stream, "a");
  EXPECT_EQ(TextAfter(log, priming), "a");
}

TEST(EventLogTest, IdsThatWereNeverHandedOut) {
  EventLog log(1000);
  const auto stream = log.OpenStream();
  EXPECT_EQ(TextAfter(log, {stream, 0}), "error: no such event");
  Add(log, stream, "a");
  EXPECT_EQ(TextAfter(log, {stream, 1}), "error: no such event");
  EXPECT_EQ(TextAfter(log, {stream + 1, 0}), "error: no such stream");
  EXPECT_EQ(log.After({stream + 1, 0}).error().code(), Errc::kInvalidArgument);
}

TEST(EventLogTest, AClosedStreamStaysReadable) {
  EventLog log(1000);
  const auto stream = log.OpenStream();
  const EventId a = Add(log, stream, "a");
  const EventId b = Add(log, stream, "b");
  log.CloseStream(stream);
  EXPECT_EQ(TextAfter(log, a), "b");
  EXPECT_EQ(TextAfter(log, b), "");
}

TEST(EventLogTest, TheOldestMakeRoom) {
  EventLog log(3 * kCost);
  const auto stream = log.OpenStream();
  const EventId priming = log.NextId(stream);
  for (const char* data : {"a", "b", "c", "d"}) Add(log, stream, data);
  EXPECT_EQ(TextAfter(log, priming), "bcd");
  EXPECT_EQ(log.bytes(), 3 * kCost);
}

TEST(EventLogTest, AnEventThatNeverFitsDisplacesNothing) {
  EventLog log(3 * kCost);
  const auto stream = log.OpenStream();
  const EventId priming = log.NextId(stream);
  Add(log, stream, "a");
  Add(log, stream, std::string(3 * kCost, 'x'));
  EXPECT_EQ(TextAfter(log, priming), "a");
}

TEST(EventLogTest, ALostEndIsSaidToBeLost) {
  EventLog log(2 * kCost);
  const auto stream = log.OpenStream();
  const EventId priming = log.NextId(stream);
  Add(log, stream, "a");
  log.CloseStream(stream);
  const auto other = log.OpenStream();
  Add(log, other, "x");
  EXPECT_EQ(TextAfter(log, priming), "a");
  Add(log, other, "y");
  EXPECT_EQ(TextAfter(log, priming), "error: the events of that stream are no longer kept");
  EXPECT_EQ(log.After(priming).error().code(), Errc::kLimit);
}

TEST(EventLogTest, AnEndTooLargeToKeepIsSaidToBeLost) {
  EventLog log(3 * kCost);
  const auto stream = log.OpenStream();
  Add(log, stream, "a");
  Add(log, stream, std::string(3 * kCost, 'x'));
  log.CloseStream(stream);
  EXPECT_EQ(TextAfter(log, {stream, 0}), "error: the end of that stream is no longer kept");
}

TEST(EventLogTest, AnOpenStreamThatLostEventsGoesOn) {
  EventLog log(kCost);
  const auto stream = log.OpenStream();
  const EventId priming = log.NextId(stream);
  Add(log, stream, "a");
  Add(log, stream, "b");
  EXPECT_EQ(TextAfter(log, priming), "b");
}

TEST(EventLogTest, LogsShareABudget) {
  const auto budget = std::make_shared<ReplayBudget>(ReplayBudget{3 * kCost, 0});
  auto mine = std::make_unique<EventLog>(3 * kCost, budget);
  EventLog theirs(3 * kCost, budget);
  const auto stream = mine->OpenStream();
  const EventId priming = mine->NextId(stream);
  Add(*mine, stream, "a");
  Add(*mine, stream, "b");
  const auto other = theirs.OpenStream();
  const EventId other_priming = theirs.NextId(other);
  Add(theirs, other, "x");
  EXPECT_EQ(budget->bytes_used, 3 * kCost);
  Add(theirs, other, "y");
  EXPECT_EQ(TextAfter(theirs, other_priming), "y") << "a log gives up its own events only";
  EXPECT_EQ(TextAfter(*mine, priming), "ab");
  mine.reset();
  EXPECT_EQ(budget->bytes_used, kCost);
}

}  // namespace
}  // namespace glovebox::mcp

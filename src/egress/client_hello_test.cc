#include "egress/client_hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/hello_fixture.h"

namespace glovebox::egress {
namespace {

using Step = HelloReading::Step;
using ::testing::HasSubstr;

policy::NetworkHost Host(std::string_view text) {
  return std::move(policy::NetworkHost::Parse(text)).value();
}

TEST(ClientHello, NamesItsServer) {
  const HelloReading reading = ReadClientHello(HelloFor("example.org"));
  EXPECT_EQ(reading.step, Step::kComplete);
  EXPECT_EQ(reading.server_name, "example.org");
}

TEST(ClientHello, IsReadHoweverItIsCut) {
  const std::string message = HelloMessage({{0, ServerNameData("example.org")}});
  for (const std::size_t record : {1u, 7u, 40u}) {
    const std::string bytes = InRecords(message, record);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_EQ(ReadClientHello(bytes.substr(0, size)).step, Step::kNeedMore) << size;
    }
    EXPECT_EQ(ReadClientHello(bytes).server_name, "example.org");
    EXPECT_EQ(ReadClientHello(bytes + "\x17\x03\x03").step, Step::kRefused);
  }
}

TEST(ClientHello, MustNameTheHostThatWasJudged) {
  EXPECT_EQ(CheckClientHello(HelloFor("example.org"), Host("example.org")).step, Step::kComplete);
  EXPECT_EQ(CheckClientHello(HelloFor("EXAMPLE.org"), Host("example.org")).step, Step::kComplete);
  EXPECT_EQ(CheckClientHello(InRecords(HelloMessage({})), Host("10.0.0.1")).step, Step::kComplete);
  for (const char* name :
       {"evil.example", "example.org.", "example.org.evil.example", "10.0.0.1"}) {
    EXPECT_EQ(CheckClientHello(HelloFor(name), Host("example.org")).step, Step::kRefused) << name;
  }
  EXPECT_EQ(CheckClientHello(HelloFor("example.org"), Host("10.0.0.1")).step, Step::kRefused);
}

TEST(ClientHello, RefusesWhatItCannotJudge) {
  const std::string name = ServerNameData("example.org");
  const std::pair<std::string, const char*> cases[] = {
      {"GET / HTTP/1.1\r\n", "is not TLS"},
      {"SSH-2.0-x\r\n", "is not TLS"},
      {"\x16\x02\x00\x00\x05hello", "is not TLS 1.0 to 1.3"},
      {std::string("\x16\x03\x01\x00\x00", 5), "of a length that none has"},
      {InRecords("\x02" + Prefixed("x", 3)), "does not start with a ClientHello"},
      {InRecords("\x01" + Big(60'000, 3)), "more than 16 KB"},
      {InRecords(HelloMessage({{0, name}, {0, name}})), "twice"},
      {InRecords(HelloMessage({{0, name}, {0xfe0d, "x"}})), "ECH"},
      {InRecords(HelloMessage({{0, "\x00\x05"}})), "malformed"},
      {InRecords(HelloMessage({{0, Prefixed(std::string(1, '\0') + Prefixed("a", 2) +
                                                std::string(1, '\0') + Prefixed("b", 2),
                                            2)}})),
       "malformed"},
      {InRecords("\x01" + Prefixed("\x03\x03 short", 3)), "does not add up"},
  };
  for (const auto& [bytes, what] : cases) {
    const HelloReading reading = CheckClientHello(bytes, Host("example.org"));
    EXPECT_EQ(reading.step, Step::kRefused) << what;
    EXPECT_THAT(reading.reason, HasSubstr(what));
  }
  EXPECT_THAT(CheckClientHello(InRecords(HelloMessage({})), Host("example.org")).reason,
              HasSubstr("names no server"));
}

}  // namespace
}  // namespace glovebox::egress

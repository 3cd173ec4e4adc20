#include "egress/request_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/chunk_reader.h"
#include "egress/response_head.h"
#include "egress/socks.h"

namespace glovebox::egress {
namespace {

using Step = HeadReading::Step;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RequestHead, IsWrittenAnew) {
  const std::string input =
      "POST HTTP://Example.ORG.:8080/a/b?c=d HTTP/1.1\r\nHost: example.org:8080\r\n"
      "Proxy-Authorization: secret\r\nConnection: x-drop, close\r\nX-Drop: 1\r\nX-Keep:  2 \r\n"
      "Upgrade: h2c\r\nContent-Length: 5\r\n\r\nhello";
  const HeadReading reading = ReadProxyHead(input);
  ASSERT_EQ(reading.step, Step::kComplete) << reading.reason;
  EXPECT_EQ(input.substr(reading.bytes), "hello");
  EXPECT_EQ(reading.head.host.name, "example.org");
  EXPECT_EQ(reading.head.port, 8080);
  EXPECT_EQ(reading.head.length, 5u);
  EXPECT_EQ(WriteHead(reading.head),
            "POST /a/b?c=d HTTP/1.1\r\nHost: example.org:8080\r\nX-Keep: 2\r\n"
            "Content-Length: 5\r\nConnection: close\r\n\r\n");
}

TEST(RequestHead, IsAwaitedToItsEnd) {
  const std::string input = "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n";
  for (std::size_t size = 0; size < input.size(); ++size) {
    ASSERT_EQ(ReadProxyHead(input.substr(0, size)).step, Step::kNeedMore) << size;
  }
  const HeadReading reading = ReadProxyHead(input);
  ASSERT_EQ(reading.step, Step::kComplete);
  EXPECT_EQ(reading.head.method, "CONNECT");
  EXPECT_EQ(reading.head.port, 443);
  EXPECT_EQ(ReadProxyHead(std::string(20'000, 'A')).step, Step::kRefused);
}

TEST(RequestHead, InATunnelMustNameItsHost) {
  const auto host = std::move(policy::NetworkHost::Parse("example.org")).value();
  EXPECT_EQ(ReadOriginHead("GET /x HTTP/1.1\r\nHost: example.org\r\n\r\n", host, 80).step,
            Step::kComplete);
  for (const char* bad : {"GET /x HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                          "GET /x HTTP/1.1\r\nHost: example.org:81\r\n\r\n",
                          "GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\n\r\n",
                          "CONNECT example.org:80 HTTP/1.1\r\nHost: example.org\r\n\r\n"}) {
    EXPECT_EQ(ReadOriginHead(bad, host, 80).step, Step::kRefused) << bad;
  }
}

TEST(ChunkReader, WritesChunksAnew) {
  const std::string input = "5;ext=1\r\nhello\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET /";
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, input.size()}) {
    ChunkReader reader;
    std::string out;
    std::string pending;
    std::size_t left = input.size();
    for (std::size_t at = 0; at < input.size() && !reader.done(); at += step) {
      pending += input.substr(at, step);
      left -= std::min(step, left);
      pending.erase(0, reader.Take(pending, out));
    }
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(out, "5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n");
    EXPECT_EQ(pending + input.substr(input.size() - left), "GET /");
  }
}

TEST(ChunkReader, RefusesWhatCouldEndElsewhere) {
  for (const char* bad : {"0x5\r\nhello\r\n", "-1\r\n", "5\nhello\n", "\r\n", "5 \r\nhello\r\n",
                          "5\r\nhelloX\r\n", "fffffffffffff\r\n", "5;\x01\r\n", "g\r\n", "\n"}) {
    ChunkReader reader;
    std::string out;
    reader.Take(bad, out);
    EXPECT_TRUE(reader.failed()) << bad;
  }
}

TEST(ResponseHead, TellsTheClientThatTheConnectionEnds) {
  const ResponseHead head = ReadResponseHead(
      "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n more\r\nX: y\r\nContent-Length: 3\r\n\r\nabc",
      false);
  ASSERT_EQ(head.step, ResponseHead::Step::kComplete);
  EXPECT_EQ(head.text, "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head.body_bytes, 3u);
  EXPECT_TRUE(ReadResponseHead("HTTP/1.1 100 Continue\r\n\r\n", false).interim);
  EXPECT_EQ(ReadResponseHead("HTTP/1.1 101 Switching\r\n\r\n", false).step,
            ResponseHead::Step::kRefused);
  EXPECT_EQ(ReadResponseHead("SSH-2.0", false).step, ResponseHead::Step::kRefused);
  EXPECT_EQ(ReadResponseHead("HTT", false).step, ResponseHead::Step::kNeedMore);
}

TEST(Socks, NamesAndAddressesAreOneVocabulary) {
  using namespace std::string_literals;
  const std::string name = "\x05\x01\x00\x03\x0b"s + "Example.Org" + "\x01\xbb";
  for (std::size_t size = 0; size < name.size(); ++size) {
    ASSERT_EQ(ReadSocksRequest(name.substr(0, size)).step, SocksStep::kNeedMore);
  }
  const SocksRequest request = ReadSocksRequest(name + "rest");
  ASSERT_EQ(request.step, SocksStep::kComplete) << request.reason;
  EXPECT_EQ(request.host.name, "example.org");
  EXPECT_EQ(request.port, 443);
  EXPECT_EQ(request.bytes, name.size());
  const SocksRequest number = ReadSocksRequest("\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50"s);
  EXPECT_EQ(number.host.name, "10.0.0.1");
  EXPECT_TRUE(number.host.address.has_value());
}

}  // namespace
}  // namespace glovebox::egress

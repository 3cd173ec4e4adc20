#include "transport/http_outgoing.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

// Everything that waits, taken `step` bytes at a time.
std::string Drain(OutgoingBytes& out, std::size_t step = 1u << 30) {
  std::string all;
  while (!out.empty()) {
    std::size_t count = 0;
    for (const auto& buffer : out.Front()) {
      const std::size_t part = std::min(buffer.size(), step - count);
      all.append(static_cast<const char*>(buffer.data()), part);
      count += part;
    }
    out.Consume(count);
  }
  EXPECT_EQ(out.size(), 0U);
  return all;
}

std::string Rendered(HttpResponse response, const HttpFraming& framing) {
  OutgoingBytes out;
  AppendHttpResponse(std::move(response), framing, out);
  return Drain(out);
}

TEST(OutgoingBytesTest, GivesBackWhatItWasGivenHoweverItIsTaken) {
  for (const std::size_t step : {1u, 7u, 1000u, 70'000u, 1u << 30}) {
    OutgoingBytes out;
    std::string expected;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 300; ++i) {
        const std::string piece(static_cast<std::size_t>(i % 60 == 0 ? 20'000 : i),
                                static_cast<char>('a' + i % 26));
        expected += piece;
        if (i % 2 == 0) {
          out.Append(piece);
        } else {
          out.Take(piece);
        }
      }
      EXPECT_EQ(out.size(), expected.size());
      EXPECT_TRUE(Drain(out, step) == expected);
      expected.clear();
    }
  }
}

TEST(OutgoingBytesTest, SmallPiecesLeaveTogetherAndLargeOnesAreNotCopied) {
  OutgoingBytes out;
  for (int i = 0; i < 1000; ++i) out.Append("piece");
  EXPECT_EQ(out.Front().size(), 1U);
  std::string large(100'000, 'x');
  const char* const address = large.data();
  out.Take(std::move(large));
  out.Append("end");
  ASSERT_EQ(out.Front().size(), 3U);
  EXPECT_EQ(out.Front()[1].data(), address);
}

TEST(OutgoingBytesTest, AQueueThatIsNeverEmptyDoesNotGrow) {
  OutgoingBytes out;
  const std::string piece(20'000, 'x');
  out.Take(piece);
  for (int i = 0; i < 2000; ++i) {
    out.Take(piece);
    out.Consume(piece.size());
  }
  EXPECT_EQ(out.size(), piece.size());
  EXPECT_EQ(out.Front().size(), 1U);
}

TEST(HttpResponseTest, WholeResponsesSayTheirLength) {
  EXPECT_EQ(Rendered({200, {{"A", "b"}}, "body"}, {.keep_alive = true}),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(Rendered({404, {}, ""}, {.keep_alive = false}),
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Rendered({204, {}, "no"}, {.keep_alive = true}), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(Rendered({200, {}, "body"}, {.head_only = true, .keep_alive = true}),
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
}

TEST(HttpResponseTest, NothingInAValueAddsAHeader) {
  const std::string evil("x\r\nSet-Cookie: y\n\0z", 19);
  EXPECT_EQ(Rendered({200, {{"A", evil}, {"B", "\r\n"}}, ""}, {.keep_alive = true}),
            "HTTP/1.1 200 OK\r\nA: x  Set-Cookie: y  z\r\nB:   \r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpResponseTest, StreamsAreDelimitedByChunksOrByTheEnd) {
  EXPECT_EQ(Rendered({200, {}, ""}, {.body = HttpFraming::Body::kChunked, .keep_alive = true}),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(Rendered({200, {}, ""}, {.body = HttpFraming::Body::kUntilClose, .http_1_0 = true}),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  OutgoingBytes out;
  AppendHttpChunk("", out);
  EXPECT_TRUE(out.empty());
  AppendHttpChunk(std::string(300, 'x'), out);
  AppendHttpLastChunk(out);
  EXPECT_EQ(Drain(out), "12c\r\n" + std::string(300, 'x') + "\r\n0\r\n\r\n");
}

}  // namespace
}  // namespace glovebox

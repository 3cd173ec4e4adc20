#include "transport/http_request_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox {
namespace {

using Step = HttpRequestReader::Step;

constexpr HttpReadLimits kLimits{.head_bytes_max = 256, .body_bytes_max = 100};

struct Outcome {
  std::vector<HttpRequest> requests;
  unsigned refused = 0;
  std::string reason;
  std::size_t heads = 0;
};

// Feeds `bytes` in pieces of `step` and takes every request.
Outcome Read(std::string_view bytes, std::size_t step, HttpReadLimits limits = kLimits) {
  Outcome outcome;
  HttpRequestReader reader(limits);
  while (!bytes.empty()) {
    reader.Append(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    for (Step next = reader.Advance(); next != Step::kNeedMore; next = reader.Advance()) {
      if (next == Step::kHead) ++outcome.heads;
      if (next == Step::kComplete) outcome.requests.push_back(reader.Take());
      if (next == Step::kRefused) {
        outcome.refused = reader.refusal().status;
        outcome.reason = reader.refusal().reason;
        return outcome;
      }
    }
  }
  return outcome;
}

std::string Chunked(std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(body);
}
std::string WithHeaders(std::string_view headers) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n";
}

TEST(HttpRequestReaderTest, ReadsRequestsHoweverTheyAreSplit) {
  const std::string bytes =
      "POST /one?q HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX:  v \r\n\r\nabc"
      "\r\n"  // a line too many
      "GET /two HTTP/1.1\r\nhost: a\r\n\r\n" +
      Chunked("1\r\nx\r\n2;e=\"q\";f\r\nyz\r\n0\r\nT: t\r\n\r\n") +
      "GET /four HTTP/1.0\r\n\r\n"
      "GET /incomplete HTTP/1.1\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    const Outcome outcome = Read(bytes, step);
    ASSERT_EQ(outcome.requests.size(), 4U) << step << " " << outcome.reason;
    EXPECT_EQ(outcome.heads, 4U);
    EXPECT_EQ(outcome.refused, 0U);
    EXPECT_EQ(outcome.requests[0].method, "POST");
    EXPECT_EQ(outcome.requests[0].target, "/one?q");
    EXPECT_EQ(outcome.requests[0].body, "abc");
    EXPECT_EQ(outcome.requests[0].headers,
              (HttpHeaders{{"Host", "a"}, {"Content-Length", "3"}, {"X", "v"}}));
    EXPECT_EQ(outcome.requests[1].target, "/two");
    EXPECT_EQ(outcome.requests[1].body, "");
    EXPECT_EQ(outcome.requests[2].body, "xyz");
    EXPECT_EQ(outcome.requests[2].CountHeader("T"), 0U);
    EXPECT_EQ(outcome.requests[3].target, "/four");
  }
}

TEST(HttpRequestReaderTest, RefusesWithTheStatusThatFits) {
  const std::string long_word(300, 'x');
  const std::vector<std::pair<std::string, unsigned>> cases = {
      // Not HTTP.
      {"\r\r", 400},
      {"GET\r\n\r\n", 400},
      {"GET / HTTP/1.1\n\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTPT/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400},
      {WithHeaders("X : y\r\n"), 400},
      {WithHeaders(": y\r\n"), 400},
      {WithHeaders("X: y\nZ: w\r\n"), 400},
      {WithHeaders(std::string("X: \0\r\n", 6)), 400},
      // Host.
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {WithHeaders("Host: b\r\n"), 400},
      // Framing that two readers could see differently.
      {WithHeaders("Content-Length: 1\r\nContent-Length: 2\r\n"), 400},
      {WithHeaders("Content-Length: -1\r\n"), 400},
      {WithHeaders("Content-Length: +1\r\n"), 400},
      {WithHeaders("Content-Length: 0x1\r\n"), 400},
      {WithHeaders("Content-Length: 99999999999999999999\r\n"), 400},
      {WithHeaders("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
      {WithHeaders("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 400},
      {WithHeaders("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
      {WithHeaders("Transfer-Encoding: chunked, gzip\r\n"), 400},
      {WithHeaders("Transfer-Encoding: chunked, chunked\r\n"), 400},
      {WithHeaders("Transfer-Encoding:\r\n"), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      // Chunks.
      {Chunked("x\r\n\r\n\r\n"), 400},
      {Chunked("\r\n\r\n\r\n"), 400},
      {Chunked("-1\r\n\r\n"), 400},
      {Chunked("1\r\nab\r\n0\r\n\r\n"), 400},
      {Chunked("1\nx\n0\n\n"), 400},
      {Chunked("1 1\r\nx\r\n"), 400},
      {Chunked("1;e=\"\n\"\r\nx\r\n0\r\n\r\n"), 400},
      {Chunked("11111111111111111\r\n"), 400},
      {Chunked("1;" + long_word), 400},
      {Chunked("0\r\nT: " + long_word), 400},
      {Chunked("0\r\nno colon\r\n\r\n"), 400},
      // Too large.
      {WithHeaders("Content-Length: 101\r\n"), 413},
      {Chunked("65\r\n\r\n"), 413},
      {Chunked("32\r\n" + std::string(50, 'x') + "\r\n33\r\n"), 413},
      {Chunked("ffffffffffffffff\r\n"), 413},
      {"GET /" + long_word, 414},
      {long_word, 414},
      {WithHeaders("X: " + long_word), 431},
      {WithHeaders("X: " + long_word + "\r\n"), 431},
      // Not known here.
      {WithHeaders("Expect: the unexpected\r\nContent-Length: 1\r\n"), 417},
      {WithHeaders("Transfer-Encoding: gzip\r\n"), 501},
      {WithHeaders("Transfer-Encoding: identity\r\n"), 501},
      {WithHeaders("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {WithHeaders("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), 501},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\n\r\n", 505},
  };
  for (const auto& [bytes, status] : cases) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, bytes.size()}) {
      const Outcome outcome = Read(bytes, step);
      EXPECT_EQ(outcome.refused, status)
          << bytes << "\nin steps of " << step << ": " << outcome.reason;
      EXPECT_TRUE(outcome.requests.empty());
      EXPECT_FALSE(outcome.reason.empty());
    }
  }
}

TEST(HttpRequestReaderTest, TheLimitsAreExact) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  for (const std::size_t step : {1u, 64u, 1000u}) {
    const std::string fill(256 - head.size() - 4, 'x');
    EXPECT_EQ(Read(head + fill + "\r\n\r\n", step).requests.size(), 1U);
    EXPECT_EQ(Read(head + fill + "x\r\n\r\n", step).refused, 431U);
    // What follows a head does not count, and every head counts anew.
    EXPECT_EQ(Read(head + fill + "\r\n\r\n" + head + fill + "\r\n\r\n", step).requests.size(), 2U);
    EXPECT_EQ(
        Read(WithHeaders("Content-Length: 100\r\n") + std::string(100, 'x'), step).requests.size(),
        1U);
    EXPECT_EQ(
        Read(Chunked("64\r\n" + std::string(100, 'x') + "\r\n0\r\n\r\n"), step).requests.size(),
        1U);
    EXPECT_EQ(Read(Chunked("64\r\n" + std::string(100, 'x') + "\r\n1\r\n"), step).refused, 413U);
    // Empty lines ahead of a request are overlooked, not without end.
    std::string lines;
    for (int i = 0; i < 200; ++i) lines += "\r\n";
    EXPECT_EQ(Read(lines + "GET / HTTP/1.1\r\n", step).refused, 414U);
  }
}

TEST(HttpRequestReaderTest, TellsAboutTheHeadBeforeTheBody) {
  HttpRequestReader reader(kLimits, "10.0.0.1");
  EXPECT_TRUE(reader.idle());
  reader.Append("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(reader.idle());
  ASSERT_EQ(reader.Advance(), Step::kHead);
  EXPECT_EQ(reader.head().target, "/x");
  EXPECT_EQ(reader.head().peer, "10.0.0.1");
  EXPECT_TRUE(reader.has_body());
  EXPECT_TRUE(reader.wants_continue());
  EXPECT_TRUE(reader.keep_alive());
  EXPECT_FALSE(reader.http_1_0());
  ASSERT_EQ(reader.Advance(), Step::kNeedMore);
  reader.Append("a");
  EXPECT_FALSE(reader.wants_continue());
  ASSERT_EQ(reader.Advance(), Step::kNeedMore);
  reader.Append("bGET");
  ASSERT_EQ(reader.Advance(), Step::kComplete);
  EXPECT_EQ(reader.Take().body, "ab");
  EXPECT_FALSE(reader.idle());
  ASSERT_EQ(reader.Advance(), Step::kNeedMore);
  reader.Append(" / HTTP/1.0\r\nExpect: anything\r\n\r\n");
  ASSERT_EQ(reader.Advance(), Step::kHead);
  EXPECT_FALSE(reader.has_body());
  EXPECT_FALSE(reader.keep_alive());
  EXPECT_TRUE(reader.http_1_0());
  EXPECT_FALSE(reader.wants_continue());
}

TEST(HttpRequestReaderTest, ConnectionHeadersDecideWhetherItGoesOn) {
  const auto keeps = [](std::string_view version, std::string_view header) {
    HttpRequestReader reader(kLimits);
    reader.Append("GET / " + std::string(version) + "\r\nHost: a\r\n" + std::string(header) +
                  "\r\n");
    EXPECT_EQ(reader.Advance(), Step::kHead);
    return reader.keep_alive();
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: x, close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(HttpRequestReaderTest, ARefusalStaysUntilEverythingIsForgotten) {
  HttpRequestReader reader(kLimits);
  reader.Append("nonsense\r\n\r\n");
  ASSERT_EQ(reader.Advance(), Step::kRefused);
  reader.Append("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_EQ(reader.Advance(), Step::kRefused);
  reader.Discard();
  EXPECT_TRUE(reader.idle());
}

}  // namespace
}  // namespace glovebox

#include "mcp/origin_check.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

bool Takes(const OriginCheck& check, Headers headers) {
  HttpRequest head;
  head.headers = std::move(headers);
  return !check.Refuse(head).has_value();
}

TEST(OriginCheckTest, LocalNamesWithAnyPort) {
  const OriginCheck check({}, {});
  for (const char* host : {"localhost", "localhost:9015", "LocalHost:1", "127.0.0.1",
                           "127.0.0.1:65535", "[::1]", "[::1]:9015"}) {
    EXPECT_TRUE(Takes(check, {{"Host", host}})) << host;
  }
}

TEST(OriginCheckTest, OtherHostsAreRefused) {
  const OriginCheck check({}, {});
  for (const char* host : {"",
                           "evil.example.com",
                           "localhost.evil.com",
                           "evil.localhost",
                           "127.0.0.1.nip.io",
                           "127.0.0.2",
                           "[::2]",
                           "[::1",
                           "::1",
                           "[::1]x",
                           "[::1]:",
                           "localhost:",
                           "localhost:12a",
                           "localhost:123456",
                           "localhost:80:80",
                           "user@localhost",
                           "localhost/",
                           "local host",
                           "localhost.",
                           "[localhost]",
                           "[]",
                           "0x7f000001",
                           "*"}) {
    EXPECT_FALSE(Takes(check, {{"Host", host}})) << host;
  }
  EXPECT_FALSE(Takes(check, {})) << "no Host at all";
  EXPECT_FALSE(Takes(check, {{"Host", "localhost"}, {"Host", "localhost"}})) << "two of them";
}

TEST(OriginCheckTest, LocalOriginsWithAnyPort) {
  const OriginCheck check({}, {});
  for (const char* origin : {"http://localhost", "https://localhost:6274", "http://127.0.0.1:80",
                             "http://[::1]:3000", "HTTP://LOCALHOST"}) {
    EXPECT_TRUE(Takes(check, {{"host", "localhost"}, {"origin", origin}})) << origin;
  }
}

TEST(OriginCheckTest, OtherOriginsAreRefused) {
  const OriginCheck check({}, {});
  for (const char* origin :
       {"", "null", "localhost", "http://evil.example.com", "http://localhost.evil.com",
        "http://localhost/", "http://localhost@evil.com", "file://localhost", "http://",
        "ws://localhost", "http://localhost http://evil.com"}) {
    EXPECT_FALSE(Takes(check, {{"host", "localhost"}, {"origin", origin}})) << origin;
  }
  EXPECT_FALSE(Takes(
      check,
      {{"host", "localhost"}, {"origin", "http://localhost"}, {"origin", "http://localhost"}}));
}

TEST(OriginCheckTest, TheAllowLists) {
  const OriginCheck check({"MCP.example.com", "other.example.com:8443"},
                          {"https://App.example.com", "null"});
  EXPECT_TRUE(Takes(check, {{"host", "mcp.example.com"}}));
  EXPECT_TRUE(Takes(check, {{"host", "mcp.EXAMPLE.com:1234"}}));
  EXPECT_TRUE(Takes(check, {{"host", "other.example.com:8443"}}));
  EXPECT_FALSE(Takes(check, {{"host", "other.example.com:8444"}}));
  EXPECT_FALSE(Takes(check, {{"host", "other.example.com"}}));
  EXPECT_TRUE(Takes(check, {{"host", "localhost"}, {"origin", "https://app.example.com"}}));
  EXPECT_TRUE(Takes(check, {{"host", "localhost"}, {"origin", "null"}}));
  EXPECT_FALSE(Takes(check, {{"host", "localhost"}, {"origin", "http://app.example.com"}}));
  EXPECT_FALSE(Takes(check, {{"host", "localhost"}, {"origin", "https://app.example.com:8443"}}));
}

TEST(OriginCheckTest, AStarTakesAll) {
  const OriginCheck check({"*"}, {"*"});
  EXPECT_TRUE(Takes(check, {{"host", "10.0.0.7:9015"}, {"origin", "https://anywhere.example"}}));
  EXPECT_FALSE(Takes(check, {{"host", "not a host"}})) << "a Host must still be one";
}

TEST(OriginCheckTest, ARefusalNamesTheHeader) {
  const OriginCheck check({}, {});
  HttpRequest head;
  head.headers = {{"Host", "evil.example.com"}};
  EXPECT_NE(check.Refuse(head)->find("evil.example.com"), std::string::npos);
}

}  // namespace
}  // namespace glovebox::mcp

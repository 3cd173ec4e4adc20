#include "transport/http_url.h"

#include <gtest/gtest.h>

namespace glovebox {
namespace {

TEST(HttpUrlTest, TakesAddressesApart) {
  const auto parts = [](std::string_view text) {
    const auto url = ParseHttpUrl(text);
    if (!url.ok()) return url.error().message();
    return url->host + ' ' + std::to_string(url->port) + ' ' + url->target + ' ' + url->authority();
  };
  EXPECT_EQ(parts("http://127.0.0.1:8080/mcp"), "127.0.0.1 8080 /mcp 127.0.0.1:8080");
  EXPECT_EQ(parts("http://localhost"), "localhost 80 / localhost");
  EXPECT_EQ(parts("http://a.example?x=1"), "a.example 80 /?x=1 a.example");
  EXPECT_EQ(parts("http://[::1]:1/a/b?c=/d"), "::1 1 /a/b?c=/d [::1]:1");
  EXPECT_EQ(parts("http://[::1]/"), "::1 80 / [::1]");
}

TEST(HttpUrlTest, RefusesTheRestAndSaysWhy) {
  const auto refusal = [](std::string_view text) {
    const auto url = ParseHttpUrl(text);
    return url.ok() ? "taken" : url.error().message();
  };
  EXPECT_EQ(refusal("https://a/"),
            "the URL is https, and this client speaks plain http only: put a TLS proxy before it");
  EXPECT_EQ(refusal("ftp://a/"), "the URL must begin with http://");
  EXPECT_EQ(refusal(""), "the URL must begin with http://");
  EXPECT_EQ(refusal("http:///mcp"), "the URL must name a host");
  EXPECT_EQ(refusal("http://:80/"), "the URL must name a host");
  EXPECT_EQ(refusal("http://[]/"), "the URL must name a host");
  EXPECT_EQ(refusal("http://[::1/"), "the URL has a [ without a ]");
  EXPECT_EQ(refusal("http://[::1]x/"), "the URL must have a port or a / after ]");
  EXPECT_EQ(refusal("http://a:/"), "the URL must have a port from 1 to 65535");
  EXPECT_EQ(refusal("http://a:0/"), "the URL must have a port from 1 to 65535");
  EXPECT_EQ(refusal("http://a:65536/"), "the URL must have a port from 1 to 65535");
  EXPECT_EQ(refusal("http://a:8x/"), "the URL must have a port from 1 to 65535");
  EXPECT_EQ(refusal("http://me:secret@a/"),
            "the URL must not carry a user name: pass a bearer token instead");
  EXPECT_EQ(refusal("http://a/#top"), "the URL must have no fragment (#)");
  for (const char* bad :
       {"http://a/ b", "http://a/\r\nx: y", "http://a/\xC3\xA9", "http://a/\x7f"}) {
    EXPECT_EQ(refusal(bad),
              "the URL must hold visible ASCII characters only: escape others with %");
  }
  EXPECT_EQ(refusal("http://a/" + std::string(9000, 'x')), "the URL must have 8192 bytes at most");
}

}  // namespace
}  // namespace glovebox

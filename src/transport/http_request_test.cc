#include <gtest/gtest.h>

#include "transport/http_server.h"

namespace glovebox {
namespace {

TEST(HttpRequestTest, PathIsTheTargetWithoutItsQueryInEveryForm) {
  const auto path = [](std::string target) {
    HttpRequest request;
    request.target = std::move(target);
    return std::string(request.path());
  };
  EXPECT_EQ(path("/mcp"), "/mcp");
  EXPECT_EQ(path("/mcp?a=1?b"), "/mcp");
  EXPECT_EQ(path("/?http://other/"), "/");
  EXPECT_EQ(path("http://host:80/mcp?x"), "/mcp");
  EXPECT_EQ(path("HTTPS://host"), "/");
  EXPECT_EQ(path("http://host?x"), "/");
  EXPECT_EQ(path("*"), "*");
}

TEST(HttpRequestTest, HeadersHaveNoCaseAndTheFirstCounts) {
  HttpRequest request;
  request.headers = {{"Accept", " a \t"}, {"X-Empty", ""}, {"ACCEPT", "b"}};
  EXPECT_EQ(request.Header("accept"), "a");
  EXPECT_EQ(request.Header("x-empty"), "");
  EXPECT_EQ(request.Header("accep"), std::nullopt);
  EXPECT_EQ(request.CountHeader("Accept"), 2U);
  EXPECT_EQ(request.CountHeader("Host"), 0U);
}

}  // namespace
}  // namespace glovebox

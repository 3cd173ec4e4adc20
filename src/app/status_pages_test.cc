#include "app/status_pages.h"

#include <gtest/gtest.h>

namespace glovebox {
namespace {

class StatusPagesTest : public testing::Test {
 protected:
  HttpResponse Get(const std::string& target, const std::string& method = "GET") {
    HttpRequest request;
    request.method = method;
    request.target = target;
    return pages_.Answer(request);
  }
  std::string reason_;
  bool allowed_ = true;
  StatusPages pages_{[this] { return reason_; }, [] { return "a 1\n"; },
                     [this](const HttpRequest&) { return allowed_; }};
};

TEST_F(StatusPagesTest, HealthIsAlwaysFine) {
  reason_ = "no";
  EXPECT_EQ(Get("/healthz").status, 200u);
  EXPECT_EQ(Get("/healthz?x=1").body, "ok\n");
}

TEST_F(StatusPagesTest, ReadyOrTheReason) {
  EXPECT_EQ(Get("/readyz").status, 200u);
  reason_ = "Python is starting";
  EXPECT_EQ(Get("/readyz").status, 503u);
  EXPECT_EQ(Get("/readyz").body, "Python is starting\n");
}

TEST_F(StatusPagesTest, MetricsForThoseWhoMay) {
  EXPECT_EQ(Get("/metrics").body, "a 1\n");
  EXPECT_EQ(Get("/metrics").headers.at(0).second, "text/plain; version=0.0.4; charset=utf-8");
  allowed_ = false;
  EXPECT_EQ(Get("/metrics").status, 401u);
  EXPECT_EQ(Get("/metrics").body, "{\"error\":\"Unauthorized\"}");
}

TEST_F(StatusPagesTest, EverythingElseIsRefused) {
  EXPECT_EQ(Get("/").status, 404u);
  EXPECT_EQ(Get("/healthz/").status, 404u);
  EXPECT_EQ(Get("/healthz", "HEAD").status, 200u);
  EXPECT_EQ(Get("/healthz", "POST").status, 405u);
}

}  // namespace
}  // namespace glovebox

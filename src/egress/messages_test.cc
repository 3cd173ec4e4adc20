#include "egress/messages.h"

#include <gtest/gtest.h>

#include "egress/egress.h"

namespace glovebox::egress {
namespace {

TEST(ProxyMessages, AReportComesBackAsItWasSent) {
  ProxyReport report;
  report.kind = ReportKind::kConnection;
  report.connection = {Door::kSocks, true, "a.example", 443, 7,       "10.0.0.1",
                       12,           34,   "a.example", "",  "remedy"};
  const auto read = DecodeProxyReport(Encode(report));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->connection.door, Door::kSocks);
  EXPECT_EQ(read->connection.address, "10.0.0.1");
  const Event event = ToEvent(read->connection);
  EXPECT_EQ(event.target, "a.example:443");
  EXPECT_EQ(event.rule, "a.example");
  EXPECT_EQ(event.bytes_sent, 12u);
  EXPECT_EQ(event.bytes_received, 34u);
  EXPECT_FALSE(event.refused);
}

TEST(ProxyMessages, HostileTextIsShortAndShowable) {
  ProxyReport report;
  report.kind = ReportKind::kConnection;
  report.connection.host = "\x1b[31m" + std::string(10'000, 'a');
  const std::string payload = Encode(report);
  EXPECT_LE(payload.size(), kReportMax);
  const auto read = DecodeProxyReport(payload);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->connection.host.substr(0, 5), "?[31m");
  EXPECT_FALSE(DecodeProxyReport(payload + "x").has_value());
  EXPECT_FALSE(DecodeProxyReport(payload.substr(1)).has_value());
}

TEST(ProxyMessages, TheSetUpCarriesTheWholePolicy) {
  auto policy = policy::ParseEgressPolicy({"a.example", "GET http://b.example/x*"});
  ASSERT_TRUE(policy.ok());
  policy->own_addresses = {*policy::IpAddress::Parse("2001:db8::1")};
  policy->remedy = "add {}";
  const auto setup = DecodeProxySetup(Encode(ProxySetup{*policy, 3, true}));
  ASSERT_TRUE(setup.has_value());
  EXPECT_EQ(setup->policy.rules.size(), 2u);
  EXPECT_EQ(setup->policy.rules[1].path, "/x*");
  EXPECT_EQ(setup->policy.own_addresses, policy->own_addresses);
  EXPECT_EQ(setup->policy.remedy, "add {}");
  EXPECT_EQ(setup->listener_count, 3u);
  EXPECT_TRUE(setup->other_uid);
}

}  // namespace
}  // namespace glovebox::egress

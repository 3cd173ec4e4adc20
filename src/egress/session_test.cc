// Ways past the policy, tried against the proxy over real sockets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "egress/bypass_table.h"
#include "egress/hello_fixture.h"
#include "egress/proxy_fixture.h"

namespace glovebox::egress {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::string_literals;

constexpr char kOwnAddress[] = "93.184.216.34";

// Servers, the rules that allow them, and a proxy in between.
class EgressProxyTest : public ::testing::Test {
 protected:
  EgressProxyTest() {
    std::vector<std::string> rules = {
        "allowed.example:${A}", "tls.example:${T}",   "open.example:${O}",
        "*.wild.example:${A}",  "127.0.0.1:${A}",     "127.0.0.1:${T}",
        "127.0.0.1:${O}",       "mixed.example:${A}", "changing.example:${A}"};
    for (const auto& [name, answers] : kForbidden) rules.push_back(std::string(name) + ":${S}");
    for (std::string& rule : rules) rule = Filled(rule);
    auto policy = policy::ParseEgressPolicy(rules);
    EXPECT_TRUE(policy.ok()) << policy.error().message();
    means_.policy = std::move(*policy);
    means_.policy.own_addresses = {*policy::IpAddress::Parse(kOwnAddress)};
    means_.http_port = allowed_.port_number();
    means_.tls_port = tls_.port_number();
    names_ = {{"allowed.example", {{"127.0.0.1"}}},
              {"tls.example", {{"127.0.0.1"}}},
              {"open.example", {{"127.0.0.1"}}},
              {"www.wild.example", {{"127.0.0.1"}}},
              {"mixed.example", {{"10.0.0.1", "169.254.169.254", "127.0.0.1"}}},
              {"changing.example", {{"127.0.0.1"}, {"10.0.0.1"}}}};
    for (const auto& [name, address] : kForbidden) names_[name] = {{address}};
  }

  std::string Filled(std::string text) const {
    const std::pair<std::string, const Witness*> ports[] = {
        {"${A}", &allowed_}, {"${T}", &tls_}, {"${O}", &open_}, {"${S}", &secret_}};
    for (const auto& [mark, server] : ports) Replace(text, mark, server->port());
    for (std::size_t at = 0; (at = text.find("${P:")) != std::string::npos;) {
      const std::size_t end = text.find('}', at);
      const auto port = static_cast<unsigned>(std::stoul(text.substr(at + 4, end - at - 4)));
      text.replace(at, end - at + 1, Big(port, 2));
    }
    return text;
  }

  std::vector<std::string> Filled(std::vector<std::string> parts) const {
    for (std::string& part : parts) part = Filled(part);
    return parts;
  }

  static void Replace(std::string& text, const std::string& mark, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += by.size()) {
      text.replace(at, mark.size(), by);
    }
  }

  int Connections() const {
    return allowed_.connections() + tls_.connections() + open_.connections() +
           secret_.connections();
  }

  static constexpr std::pair<const char*, const char*> kForbidden[] = {
      {"loopback.example", "127.0.0.1"},
      {"private.example", "10.0.0.1"},
      {"metadata.example", "169.254.169.254"},
      {"linklocal.example", "fe80::1"},
      {"loopback6.example", "::1"},
      {"mapped.example", "::ffff:127.0.0.1"},
      {"nat64.example", "64:ff9b::a9fe:a9fe"},
      {"own.example", kOwnAddress}};
  const Witness allowed_;
  const Witness tls_;
  const Witness open_;
  const Witness secret_;
  SessionMeans means_;
  Names names_;
};

TEST_F(EgressProxyTest, NoWayPastThePolicy) {
  const std::vector<BypassRow> table = BypassTable();
  ASSERT_GE(table.size(), 60u);
  TestProxy proxy(means_, names_);
  for (const BypassRow& row : table) {
    SCOPED_TRACE(row.what);
    const std::string seen_before = allowed_.seen() + tls_.seen() + open_.seen();
    const int before = allowed_.connections();
    const std::size_t reports = proxy.reports().size();
    const std::string answer = proxy.Send(Filled(row.parts));
    EXPECT_EQ(secret_.connections(), 0);
    if (row.expected == Bypass::kNothingGoesOn) {
      EXPECT_EQ(allowed_.seen() + tls_.seen() + open_.seen(), seen_before);
      EXPECT_THAT(answer, Not(HasSubstr("WITNESS")));
      EXPECT_GT(proxy.reports().size(), reports) << "no report; answered: " << answer;
      if (proxy.reports().size() == reports) continue;
      EXPECT_FALSE(proxy.reports().back().allowed);
      EXPECT_FALSE(proxy.reports().back().reason.empty());
    } else {
      EXPECT_EQ(allowed_.connections(), before + 1);
      EXPECT_THAT(answer, HasSubstr("WITNESS"));
      EXPECT_THAT(allowed_.seen(), Not(HasSubstr("SMUGGLED")));
    }
  }
}

TEST_F(EgressProxyTest, WhatIsAllowedWorks) {
  TestProxy proxy(means_, names_);
  const std::vector<std::string> requests[] = {
      {"GET http://allowed.example:${A}/x HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"},
      {"GET http://ALLOWED.Example.:${A}/x HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"},
      {"GET HTTP://127.0.0.1:${A} HTTP/1.0\r\n\r\n"},
      {"GET http://www.wild.example:${A}/ HTTP/1.1\r\nHost: www.wild.example:${A}\r\n\r\n"},
      {"GET http://mixed.example:${A}/ HTTP/1.1\r\nHost: mixed.example:${A}\r\n\r\n"},
      {"CONNECT allowed.example:${A} HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: allowed.example:${A}\r\n\r\n"},
      {"CONNECT tls.example:${T} HTTP/1.1\r\nHost: tls.example:${T}\r\n\r\n",
       HelloFor("tls.example")},
      {"CONNECT 127.0.0.1:${T} HTTP/1.1\r\nHost: 127.0.0.1:${T}\r\n\r\n",
       InRecords(HelloMessage({}))},
      {"CONNECT open.example:${O} HTTP/1.1\r\nHost: open.example:${O}\r\n\r\n", "anything"},
      {"CONNECT open.example:${O} HTTP/1.1\r\nHost: open.example:${O}\r\n\r\n",
       HelloFor("open.example")},
      {"\x05\x01\x00"s, "\x05\x01\x00\x03\x0copen.example${P:${O}}"s, "anything"},
  };
  for (const std::vector<std::string>& request : requests) {
    EXPECT_THAT(proxy.Send(Filled(request)), HasSubstr("WITNESS")) << request[0];
  }
}

TEST_F(EgressProxyTest, ANameIsResolvedOnceAndThatAnswerIsDialled) {
  TestProxy proxy(means_, names_);
  const std::string request =
      Filled("GET http://changing.example:${A}/ HTTP/1.1\r\nHost: changing.example:${A}\r\n\r\n"s);
  EXPECT_THAT(proxy.Send({request}), HasSubstr("WITNESS"));
  EXPECT_EQ(proxy.resolutions(), 1);
  EXPECT_THAT(proxy.Send({request}),
              HasSubstr("changing.example leads to 10.0.0.1, a private address"));
  EXPECT_EQ(proxy.resolutions(), 2);
  proxy.Send(
      {Filled("GET http://evil.example:${A}/ HTTP/1.1\r\nHost: evil.example:${A}\r\n\r\n"s)});
  EXPECT_EQ(proxy.resolutions(), 2) << "what no rule names is not even looked up";
}

TEST_F(EgressProxyTest, ARefusalSaysWhatAndWhatWouldAllowIt) {
  TestProxy proxy(means_, names_);
  const std::string answer =
      proxy.Send({"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"});
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("evil.example:80 was refused: no rule names evil.example\n"));
  EXPECT_THAT(answer, HasSubstr("whoever runs this box can allow it: --net evil.example\n"));
  const ConnectionReport report = proxy.reports().back();
  EXPECT_EQ(report.host, "evil.example");
  EXPECT_EQ(report.port, 80);
  EXPECT_EQ(report.remedy, "--net evil.example");
}

TEST_F(EgressProxyTest, WhatComesInPiecesIsReadAsOne) {
  TestProxy proxy(means_, names_);
  std::vector<std::string> bytes;
  for (const char c : Filled("GET http://allowed.example:${A}/ HTTP/1.1\r\nHost: "
                             "allowed.example:${A}\r\n\r\n"s)) {
    bytes.emplace_back(1, c);
  }
  EXPECT_THAT(proxy.Send(bytes, std::chrono::milliseconds(2)), Not(HasSubstr("400")));
}

TEST_F(EgressProxyTest, ASlowClientIsNotWaitedForForever) {
  means_.times.head = std::chrono::milliseconds(200);
  TestProxy proxy(means_, names_);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::string> drops(30, "x");
  drops.front() = "GET http://";
  proxy.Send(drops, std::chrono::milliseconds(50));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ASSERT_FALSE(proxy.reports().empty());
  EXPECT_EQ(proxy.reports().back().reason, "nothing was sent for too long");
  EXPECT_EQ(Connections(), 0);
}

TEST_F(EgressProxyTest, HalfABodyIsNotAWholeRequest) {
  means_.times.idle = std::chrono::milliseconds(300);
  TestProxy proxy(means_, names_);
  proxy.Send(
      {Filled("POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n"
              "Content-Length: 100\r\n\r\nhalf"s)});
  EXPECT_TRUE(allowed_.SeesAtTheEnd("half")) << allowed_.seen();
}

TEST_F(EgressProxyTest, AnAnswerBeforeTheEndOfTheRequestComesWhole) {
  TestProxy proxy(means_, names_);
  const std::string answer = proxy.Send(
      {Filled("POST http://allowed.example:${A}/ HTTP/1.1\r\nHost: allowed.example:${A}\r\n"
              "Content-Length: 1000000\r\n\r\nhalf"s),
       std::string(5000, 'x'), std::string(5000, 'y')});
  EXPECT_THAT(answer, ::testing::EndsWith("\r\n\r\nWITNESS"));
}

}  // namespace
}  // namespace glovebox::egress

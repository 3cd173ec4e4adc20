#include "policy/egress_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

using ::testing::HasSubstr;

EgressPolicy Of(const std::vector<std::string>& rules) {
  auto policy = ParseEgressPolicy(rules);
  EXPECT_TRUE(policy.ok()) << policy.error().message();
  return std::move(*policy);
}

EgressAsk Ask(std::string_view host, std::uint16_t port) {
  return {std::move(NetworkHost::Parse(host)).value(), port};
}

EgressAsk Get(std::string_view host, std::string path, std::string method = "GET") {
  EgressAsk ask = Ask(host, 80);
  ask.method = std::move(method);
  ask.path = std::move(path);
  return ask;
}

TEST(EgressPolicy, WithoutRulesAllowsNothing) {
  const EgressVerdict verdict = EgressPolicy{}.Judge(Ask("example.org", 443));
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.reason, "no rule names example.org");
}

TEST(EgressPolicy, ANameIsThatNameAtItsPorts) {
  const EgressPolicy policy = Of({"Example.org", "db.example:5432", "any.example:*"});
  EXPECT_TRUE(policy.Judge(Ask("example.org", 80)).allowed);
  EXPECT_TRUE(policy.Judge(Ask("example.org", 443)).allowed);
  EXPECT_EQ(policy.Judge(Ask("example.org", 443)).rule, "Example.org");
  EXPECT_FALSE(policy.Judge(Ask("example.org", 8080)).allowed);
  EXPECT_FALSE(policy.Judge(Ask("www.example.org", 443)).allowed);
  EXPECT_FALSE(policy.Judge(Ask("notexample.org", 443)).allowed);
  EXPECT_TRUE(policy.Judge(Ask("db.example", 5432)).allowed);
  EXPECT_FALSE(policy.Judge(Ask("db.example", 443)).allowed);
  EXPECT_TRUE(policy.Judge(Ask("any.example", 1)).allowed);
}

TEST(EgressPolicy, AWildcardEndsAtALabel) {
  const EgressPolicy policy = Of({"*.example.org"});
  EXPECT_TRUE(policy.Judge(Ask("www.example.org", 443)).allowed);
  EXPECT_TRUE(policy.Judge(Ask("a.b.example.org", 443)).allowed);
  EXPECT_FALSE(policy.Judge(Ask("example.org", 443)).allowed);
  EXPECT_FALSE(policy.Judge(Ask("evilexample.org", 443)).allowed);
  EXPECT_FALSE(policy.Judge(Ask("example.org.evil.example", 443)).allowed);
}

TEST(EgressPolicy, MethodsAndPathsAreOfPlainHttp) {
  const EgressPolicy policy = Of({"GET|HEAD http://example.org/feed/*", "http://one.example/only"});
  EXPECT_TRUE(policy.Judge(Get("example.org", "/feed/a")).allowed);
  EXPECT_TRUE(policy.Judge(Get("example.org", "/feed/a", "HEAD")).allowed);
  EXPECT_FALSE(policy.Judge(Get("example.org", "/feed/a", "POST")).allowed);
  EXPECT_FALSE(policy.Judge(Get("example.org", "/feeds")).allowed);
  EXPECT_FALSE(policy.Judge(Ask("example.org", 80)).allowed) << "a tunnel";
  EXPECT_FALSE(policy.Judge(Ask("example.org", 443)).allowed);
  EXPECT_TRUE(policy.Judge(Get("one.example", "/only")).allowed);
  EXPECT_FALSE(policy.Judge(Get("one.example", "/only/more")).allowed);
}

TEST(EgressPolicy, APathIsNotReadInTwoWays) {
  const EgressPolicy policy = Of({"http://example.org/feed/*"});
  for (const char* path :
       {"/feed/../secret", "/feed/%2e%2e/secret", "/feed/..%2fsecret", "/feed//x", "/feed/\\x",
        "/feed/..;/x", "/feed/%252e%252e/x", "/feed/%00", "/feed/./x", "/feed/%"}) {
    EXPECT_FALSE(policy.Judge(Get("example.org", path)).allowed) << path;
  }
}

TEST(EgressPolicy, AddressesThatAreNotPublicMustBeNamed) {
  EgressPolicy policy = Of({"internal.example:8080", "example.org"});
  const auto address = [](const char* text) { return *IpAddress::Parse(text); };
  EXPECT_TRUE(policy.JudgeAddress(Ask("example.org", 443), address("8.8.8.8")).allowed);
  const auto verdict = policy.JudgeAddress(Ask("internal.example", 8080), address("10.0.0.7"));
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.reason,
            "internal.example leads to 10.0.0.7, a private address, which no rule names");
  policy = Of({"internal.example:8080", "10.0.0.7:8080"});
  EXPECT_TRUE(policy.JudgeAddress(Ask("internal.example", 8080), address("10.0.0.7")).allowed);
  EXPECT_FALSE(policy.JudgeAddress(Ask("internal.example", 8081), address("10.0.0.7")).allowed);
  EXPECT_FALSE(policy.JudgeAddress(Ask("internal.example", 8080), address("10.0.0.8")).allowed);
  policy.own_addresses = {address("93.184.216.34")};
  EXPECT_FALSE(policy.JudgeAddress(Ask("example.org", 443), address("93.184.216.34")).allowed);
}

TEST(EgressPolicy, SaysWhatWouldAllow) {
  EgressPolicy policy;
  EXPECT_EQ(policy.RemedyFor(*NetworkHost::Parse("a.example"), 443), "--net a.example");
  EXPECT_EQ(policy.RemedyFor(*NetworkHost::Parse("[::1]"), 8080), "--net [::1]:8080");
  policy.remedy = "add {} to SANDBOX_ALLOWED_HOSTS";
  EXPECT_EQ(policy.RemedyFor(*NetworkHost::Parse("a.example"), 80),
            "add a.example to SANDBOX_ALLOWED_HOSTS");
}

TEST(EgressRule, BadOnesSayWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it is empty"},
      {"*", "name those that are needed"},
      {"*.org", "at least two labels"},
      {"*.10.0.0.1", "at least two labels"},
      {"exa mple.org", "methods are upper-case words"},
      {"a.example:0", "a port is a number"},
      {"a.example:http", "a port is a number"},
      {"127.1", "four decimal numbers"},
      {"CONNECT http://a.example/", "CONNECT is a tunnel"},
      {"GET https://a.example", "inside TLS"},
      {"https://a.example/x", "inside TLS"},
      {"a.example/*x", "with '*' at its end only"},
      {"user@a.example", "ASCII letters"},
  };
  for (const auto& [text, what] : cases) {
    const auto rule = ParseEgressRule(text);
    ASSERT_FALSE(rule.ok()) << text;
    EXPECT_THAT(rule.error().message(), HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace glovebox::policy

#include "mcp/lifecycle_messages.h"

#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

json::object Object(std::string_view text) { return json::parse(text).get_object(); }

template <typename Params>
std::string ErrorOf(std::string_view params) {
  const auto result = ParamsFromJson<Params>(Object(params));
  return result.ok() ? "" : result.error().message();
}

TEST(VersionTest, KnowsItsVersionsBothWays) {
  std::string names;
  for (const ProtocolVersion version : ServedVersions()) {
    EXPECT_EQ(VersionFromName(VersionName(version)), version);
    names += std::string(VersionName(version)) + " ";
  }
  EXPECT_EQ(names, "2026-07-28 2025-11-25 2025-06-18 2025-03-26 2024-11-05 ");
  EXPECT_FALSE(VersionFromName("2026-07-29").has_value());
  EXPECT_TRUE(IsModern(kModernVersion));
  EXPECT_FALSE(IsModern(kNewestLegacyVersion));
}

TEST(LifecycleMessagesTest, ReadsInitialize) {
  const auto params = ParamsFromJson<InitializeParams>(
      Object(R"({"protocolVersion":"2025-06-18","capabilities":{"roots":{}},)"
             R"("clientInfo":{"name":"c","version":7,"websiteUrl":"https://c"}})"));
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(params->protocol_version, "2025-06-18");
  EXPECT_EQ(params->client_info.name, "c");
  EXPECT_EQ(params->client_info.version, "");
  EXPECT_EQ(params->client_info.website_url, "https://c");
  EXPECT_TRUE(params->capabilities.roots);
  EXPECT_FALSE(params->capabilities.sampling);
}

TEST(LifecycleMessagesTest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(ErrorOf<InitializeParams>("{}"), "params.protocolVersion must be given");
  EXPECT_EQ(ErrorOf<InitializeParams>(R"({"protocolVersion":"x","capabilities":{"roots":true}})"),
            "the client capability \"roots\" must be an object");
  EXPECT_EQ(ErrorOf<RequestMeta>(R"({"_meta":{"progressToken":1.5}})"),
            "params._meta.progressToken must be a string or an integer");
  EXPECT_EQ(ErrorOf<RequestMeta>(R"({"_meta":7})"), "params._meta must be an object");
  EXPECT_EQ(ErrorOf<CancelledParams>("{}"), "params.requestId must be a string or an integer");
  EXPECT_EQ(ErrorOf<PageParams>(R"({"cursor":1})"), "params.cursor must be a string");
  EXPECT_EQ(ErrorOf<SetLevelParams>(R"({"level":"loud"})"),
            "params.level must be debug, info, notice, warning, error, critical, alert or "
            "emergency");
}

TEST(LifecycleMessagesTest, ReadsWhatAClientCanDo) {
  const auto read = [](std::string_view text) {
    auto capabilities = ClientCapabilitiesFromJson(Object(text));
    EXPECT_TRUE(capabilities.ok()) << text;
    return capabilities.ok() ? *capabilities : ClientCapabilities();
  };
  EXPECT_TRUE(read(R"({"sampling":{"tools":{}},"unknown":5})").sampling);
  const auto neither = read(R"({"elicitation":{"other":{}}})");
  EXPECT_FALSE(neither.elicitation_form || neither.elicitation_url);
  const auto form = read(R"({"elicitation":{}})");
  EXPECT_TRUE(form.elicitation_form);
  EXPECT_FALSE(form.elicitation_url);
  const auto url = read(R"({"elicitation":{"url":{}}})");
  EXPECT_FALSE(url.elicitation_form);
  EXPECT_TRUE(url.elicitation_url);
  const auto both = read(R"({"elicitation":{"url":{},"form":{}}})");
  EXPECT_TRUE(both.elicitation_form && both.elicitation_url);
  EXPECT_TRUE(read(R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})").tasks);
  EXPECT_FALSE(read(R"({"tasks":{}})").tasks);

  for (const char* wrong : {R"({"sampling":true})", R"({"roots":[]})", R"({"elicitation":null})",
                            R"({"elicitation":{"url":1}})", R"({"extensions":1})",
                            R"({"extensions":{"io.modelcontextprotocol/tasks":true}})"}) {
    EXPECT_FALSE(ClientCapabilitiesFromJson(Object(wrong)).ok()) << wrong;
  }
}

TEST(LifecycleMessagesTest, KnowsLogLevelsBothWays) {
  for (const char* name :
       {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}) {
    const auto level = LogLevelFromName(name);
    ASSERT_TRUE(level.has_value()) << name;
    EXPECT_EQ(LogLevelName(*level), name);
  }
  EXPECT_LT(LogLevel::kDebug, LogLevel::kEmergency);
  EXPECT_FALSE(LogLevelFromName("Info").has_value());
}

TEST(LifecycleMessagesTest, IntroducesItselfAsTheRevisionKnows) {
  const Implementation us = {
      "g", "Glovebox", "1", "https://g", {{"data:,x", "image/png", {"any"}}}};
  EXPECT_EQ(WriteJson(ToJson(us, ProtocolVersion::k2025_03_26)), R"({"name":"g","version":"1"})");
  EXPECT_EQ(WriteJson(ToJson(us, ProtocolVersion::k2025_06_18)),
            R"({"name":"g","version":"1","title":"Glovebox"})");
  EXPECT_EQ(WriteJson(ToJson(us, ProtocolVersion::k2025_11_25)),
            R"({"name":"g","version":"1","title":"Glovebox","websiteUrl":"https://g",)"
            R"("icons":[{"src":"data:,x","mimeType":"image/png","sizes":["any"]}]})");
}

TEST(LifecycleMessagesTest, WritesTheHandshakeAndDiscovery) {
  const InitializeResult welcome = {
      ProtocolVersion::k2025_06_18, {{"tools", json::object()}}, {"g", "", "1", "", {}}, "Do."};
  EXPECT_EQ(WriteJson(ToJson(welcome, welcome.protocol_version)),
            R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
            R"("serverInfo":{"name":"g","version":"1"},"instructions":"Do."})");
  const DiscoverResult discovery = {{kModernVersion}, {}, "", {60'000, true}};
  EXPECT_EQ(WriteJson(ToJson(discovery, kModernVersion)),
            R"({"supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":60000,)"
            R"("cacheScope":"public"})");
}

TEST(LifecycleMessagesTest, WritesProgressAndLogs) {
  const Progress progress = {1, 2, "half"};
  EXPECT_EQ(WriteJson(ToJson(progress, ProgressToken("t"), ProtocolVersion::k2025_03_26)),
            R"({"progressToken":"t","progress":1.0,"total":2.0,"message":"half"})");
  EXPECT_EQ(
      WriteJson(ToJson(progress, ProgressToken(std::int64_t{3}), ProtocolVersion::k2024_11_05)),
      R"({"progressToken":3,"progress":1.0,"total":2.0})");
  EXPECT_EQ(WriteJson(ToJson(LogMessage{LogLevel::kWarning, "db", 5}, kModernVersion)),
            R"({"level":"warning","logger":"db","data":5})");
}

TEST(LifecycleMessagesTest, HintsAtCachesInTheModernEraOnly) {
  json::object object;
  AddCacheHint(object, {5, false}, kNewestLegacyVersion);
  EXPECT_TRUE(object.empty());
  AddCacheHint(object, {5, false}, kModernVersion);
  EXPECT_EQ(WriteJson(object), R"({"ttlMs":5,"cacheScope":"private"})");
}

}  // namespace
}  // namespace glovebox::mcp

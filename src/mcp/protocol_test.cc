#include "mcp/protocol.h"

#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

json::object Object(std::string_view text) { return json::parse(text).get_object(); }

TEST(ProtocolTest, KnowsItsVersionsBothWays) {
  for (const char* name : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    const auto version = VersionFromName(name);
    ASSERT_TRUE(version.has_value()) << name;
    EXPECT_EQ(VersionName(*version), name);
  }
  EXPECT_FALSE(VersionFromName("2026-07-28").has_value());
}

TEST(ProtocolTest, ReadsInitialize) {
  const auto params = ParamsFromJson<InitializeParams>(Object(
      R"({"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c"}})"));
  ASSERT_TRUE(params.ok());
  EXPECT_EQ(params->protocol_version, "2025-06-18");
  EXPECT_EQ(params->client_info.name, "c");
  EXPECT_TRUE(params->capabilities.contains("roots"));
}

TEST(ProtocolTest, NamesTheFieldThatIsWrong) {
  const auto message = [](const auto& result) { return result.error().message(); };
  EXPECT_EQ(message(ParamsFromJson<InitializeParams>({})), "params.protocolVersion must be given");
  EXPECT_EQ(message(ParamsFromJson<CallToolParams>(Object(R"({"name":1})"))),
            "params.name must be a string");
  EXPECT_EQ(message(ParamsFromJson<CallToolParams>(Object(R"({"name":"x","arguments":[]})"))),
            "params.arguments must be an object");
  EXPECT_EQ(message(ParamsFromJson<RequestMeta>(Object(R"({"_meta":{"progressToken":1.5}})"))),
            "params._meta.progressToken must be a string or an integer");
  EXPECT_EQ(message(ParamsFromJson<CancelledParams>({})),
            "params.requestId must be a string or an integer");
}

TEST(ProtocolTest, LeavesOutWhatARevisionDoesNotKnow) {
  const ToolDefinition tool = {"t", "Title", "Does.", {{"type", "object"}}, {{"type", "object"}},
                               {}};
  const auto has = [&](ProtocolVersion version, std::string_view key) {
    return ToJson(tool, version).contains(key);
  };
  EXPECT_TRUE(has(ProtocolVersion::k2025_11_25, "outputSchema"));
  EXPECT_TRUE(has(ProtocolVersion::k2025_06_18, "title"));
  EXPECT_FALSE(has(ProtocolVersion::k2025_03_26, "outputSchema"));
  EXPECT_TRUE(has(ProtocolVersion::k2025_03_26, "annotations"));
  EXPECT_FALSE(has(ProtocolVersion::k2024_11_05, "annotations"));

  const CallToolResult result = {{"text"}, json::object{{"a", 1}}, false};
  EXPECT_EQ(WriteJson(ToJson(result, ProtocolVersion::k2025_11_25)),
            R"({"content":[{"type":"text","text":"text"}],"structuredContent":{"a":1},)"
            R"("isError":false})");
  EXPECT_EQ(WriteJson(ToJson(result, ProtocolVersion::k2025_03_26)),
            R"({"content":[{"type":"text","text":"text"}],"isError":false})");
}

TEST(ProtocolTest, WritesAListOfOneToolAsAList) {
  const ListToolsResult result = {{ToolDefinition{"t", "", "Does.", {}, {}, {}}}};
  const json::object object = ToJson(result, kNewestVersion);
  ASSERT_TRUE(object.at("tools").is_array());
  EXPECT_EQ(object.at("tools").get_array().size(), 1u);
}

}  // namespace
}  // namespace glovebox::mcp

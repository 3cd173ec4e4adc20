#include "mcp/tool_registry.h"

#include <memory>
#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/fake_call.h"
#include "mcp/json_writer.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

json::object Object(std::string_view text) { return json::parse(text).get_object(); }

ToolDefinition Define(std::string name) {
  ToolDefinition tool;
  tool.name = std::move(name);
  tool.description = "Does.";
  tool.input_schema = {{"type", "object"}};
  return tool;
}

void Ignore(const json::object&, const ToolResponder&) {}

TEST(ToolMessagesTest, LeavesOutWhatARevisionDoesNotKnow) {
  ToolDefinition tool = Define("t");
  tool.title = "Title";
  tool.output_schema = {{"type", "object"}};
  tool.icons = {{"https://i", "", {}}};
  tool.meta = {{"k", 1}};
  tool.annotations.read_only_hint = true;
  const auto written = [&](ProtocolVersion version) { return WriteJson(ToJson(tool, version)); };
  const std::string hints =
      R"("readOnlyHint":true,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true)";
  EXPECT_EQ(written(ProtocolVersion::k2024_11_05),
            R"({"name":"t","description":"Does.","inputSchema":{"type":"object"}})");
  EXPECT_EQ(written(ProtocolVersion::k2025_03_26),
            R"({"name":"t","description":"Does.","inputSchema":{"type":"object"},)"
            R"("annotations":{)" +
                hints + R"(,"title":"Title"}})");
  EXPECT_EQ(written(ProtocolVersion::k2025_06_18),
            R"({"name":"t","title":"Title","description":"Does.","inputSchema":{"type":"object"},)"
            R"("outputSchema":{"type":"object"},"annotations":{)" +
                hints + R"(},"_meta":{"k":1}})");
  EXPECT_EQ(written(ProtocolVersion::k2025_11_25),
            R"({"name":"t","title":"Title","description":"Does.","inputSchema":{"type":"object"},)"
            R"("outputSchema":{"type":"object"},"annotations":{)" +
                hints + R"(},"icons":[{"src":"https://i"}],"_meta":{"k":1}})");
  EXPECT_EQ(written(kModernVersion), written(ProtocolVersion::k2025_11_25));
}

TEST(ToolMessagesTest, KeepsOutputSchemasOfOtherTypesFromLegacyClients) {
  ToolDefinition tool = Define("t");
  tool.output_schema = {{"type", "array"}};
  EXPECT_FALSE(ToJson(tool, kNewestLegacyVersion).contains("outputSchema"));
  EXPECT_TRUE(ToJson(tool, kModernVersion).contains("outputSchema"));
}

TEST(ToolMessagesTest, WritesResults) {
  const auto written = [](const json::value& structured, ProtocolVersion version) {
    return WriteJson(ToJson(CallToolResult{{Text("text")}, structured, false}, version));
  };
  const std::string plain = R"({"content":[{"type":"text","text":"text"}],"isError":false})";
  const std::string object = R"({"content":[{"type":"text","text":"text"}],)"
                             R"("structuredContent":{"a":1},"isError":false})";
  EXPECT_EQ(written(Object(R"({"a":1})"), ProtocolVersion::k2025_03_26), plain);
  EXPECT_EQ(written(Object(R"({"a":1})"), ProtocolVersion::k2025_06_18), object);
  EXPECT_EQ(written(Object(R"({"a":1})"), kModernVersion), object);
  EXPECT_EQ(written(5, kNewestLegacyVersion), plain);
  EXPECT_EQ(written(nullptr, kModernVersion),
            R"({"content":[{"type":"text","text":"text"}],"structuredContent":null,)"
            R"("isError":false})");
  EXPECT_EQ(WriteJson(ToJson(CallToolResult{{}, {}, true}, kModernVersion)),
            R"({"content":[],"isError":true})");
}

TEST(ToolMessagesTest, ReadsCalls) {
  const auto read = [](std::string_view text) {
    return ParamsFromJson<CallToolParams>(Object(text));
  };
  EXPECT_EQ(read(R"({"name":"t","arguments":{"a":1}})")->arguments.at("a"), 1);
  EXPECT_TRUE(read(R"({"name":"t"})")->arguments.empty());
  EXPECT_EQ(read(R"({"name":1})").error().message(), "params.name must be a string");
  EXPECT_EQ(read(R"({"name":"x","arguments":[]})").error().message(),
            "params.arguments must be an object");
}

TEST(ToolRegistryTest, ListsInOrderPageByPage) {
  ToolRegistry tools;
  EXPECT_TRUE(tools.empty());
  for (const char* name : {"c", "a", "b"}) tools.Add(Define(name), Ignore);
  Router router;
  tools.Register(router, {7, true}, 2);
  const auto first = Ask(router, "tools/list", "{}", std::make_shared<FakeCall>(kModernVersion));
  const json::object& page = first->replies.at(0);
  EXPECT_EQ(page.at("tools").get_array().size(), 2u);
  EXPECT_EQ(page.at("tools").at(0).at("name"), "c");
  EXPECT_EQ(page.at("ttlMs"), 7);
  EXPECT_EQ(page.at("cacheScope"), "public");
  const std::string cursor(page.at("nextCursor").get_string());
  const auto second = Ask(router, "tools/list", R"({"cursor":")" + cursor + "\"}");
  EXPECT_EQ(second->replies.at(0).at("tools").at(0).at("name"), "b");
  EXPECT_FALSE(second->replies.at(0).contains("nextCursor"));
  EXPECT_FALSE(second->replies.at(0).contains("ttlMs"));
  EXPECT_EQ(Ask(router, "tools/list", R"({"cursor":""})")->failures.at(0).code, kInvalidParams);
}

TEST(ToolRegistryTest, EmitsSchemasVerbatim) {
  const std::string schema =
      R"({"type":"object","z":[true,null,1.5],"properties":{"b":{},"a":{"const":"x"}},"$defs":{}})";
  ToolDefinition tool = Define("t");
  tool.input_schema = Object(schema);
  ToolRegistry tools;
  tools.Add(std::move(tool), Ignore);
  Router router;
  tools.Register(router, {}, 10);
  EXPECT_EQ(
      WriteJson(Ask(router, "tools/list", "{}")->replies.at(0).at("tools").at(0).at("inputSchema")),
      schema);
}

TEST(ToolRegistryTest, CallsTheToolOrSaysThatThereIsNone) {
  ToolRegistry tools;
  tools.Add(Define("echo"), [](const json::object& arguments, const ToolResponder& responder) {
    responder.Reply({{Text(WriteJson(arguments))}, {}, false});
  });
  Router router;
  tools.Register(router, {}, 10);
  EXPECT_EQ(Ask(router, "tools/call", R"({"name":"echo","arguments":{"a":1}})")
                ->replies.at(0)
                .at("content")
                .at(0)
                .at("text"),
            R"({"a":1})");
  EXPECT_EQ(
      Ask(router, "tools/call", R"({"name":"echo"})")->replies.at(0).at("content").at(0).at("text"),
      "{}");
  const auto unknown = Ask(router, "tools/call", R"({"name":"nope"})");
  EXPECT_EQ(unknown->failures.at(0).code, kInvalidParams);
  EXPECT_EQ(unknown->failures.at(0).message, "Unknown tool: nope");
}

TEST(ToolRegistryTest, KeepsTaskOnlyToolsFromClientsWithoutTasks) {
  int calls = 0;
  ToolDefinition tool = Define("job");
  tool.tasks = TaskSupport::kRequired;
  ToolRegistry tools;
  tools.Add(std::move(tool), [&calls](const json::object&, const ToolResponder&) { ++calls; });
  Router router;
  tools.Register(router, {}, 10);
  const std::string params = R"({"name":"job"})";

  const auto modern = Ask(router, "tools/call", params, std::make_shared<FakeCall>(kModernVersion));
  EXPECT_EQ(modern->failures.at(0).code, kMissingClientCapability);
  EXPECT_EQ(WriteJson(modern->failures.at(0).data.value()),
            R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})");

  auto legacy = std::make_shared<FakeCall>();
  legacy->call_context.capabilities.tasks = true;
  Ask(router, "tools/call", params, legacy);
  EXPECT_EQ(legacy->failures.at(0).code, kMethodNotFound);
  EXPECT_EQ(legacy->failures.at(0).message, "Tool job needs the tasks extension of 2026-07-28");
  EXPECT_EQ(calls, 0);

  auto able = std::make_shared<FakeCall>(kModernVersion);
  able->call_context.capabilities.tasks = true;
  Ask(router, "tools/call", params, able);
  EXPECT_EQ(calls, 1);
}

ToolDefinition WithSchema(std::string_view schema) {
  ToolDefinition tool = Define("t");
  tool.input_schema = Object(schema);
  return tool;
}

TEST(ToolRegistryTest, FindsParametersThatTravelInHeaders) {
  ToolRegistry tools;
  tools.Add(WithSchema(R"({"type":"object","properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "x-mcp-header":{"type":"string","default":{"x-mcp-header":"data"}},
                "where":{"type":"object","properties":{
                  "shard":{"type":"integer","x-mcp-header":"Shard-1"}}}}})"),
            Ignore);
  const auto& found = tools.HeaderParametersOf("t");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].header, "Region");
  EXPECT_EQ(found[0].path, std::vector<std::string>{"region"});
  EXPECT_EQ(found[1].header, "Shard-1");
  EXPECT_EQ(found[1].path, (std::vector<std::string>{"where", "shard"}));
  EXPECT_TRUE(tools.HeaderParametersOf("other").empty());
}

TEST(ToolRegistryDeathTest, RefusesProgramsThatAreWrong) {
  ToolRegistry tools;
  tools.Add(Define("t"), Ignore);
  EXPECT_DEATH(tools.Add(Define("t"), Ignore), "Find");
  EXPECT_DEATH(
      ToolRegistry().Add(WithSchema(R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})"),
                         Ignore),
      "tool_registry.cc");
}

}  // namespace
}  // namespace glovebox::mcp

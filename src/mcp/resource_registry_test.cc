#include "mcp/resource_registry.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "mcp/fake_call.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

using Variables = ResourceRegistry::Variables;

// A URI may name anything; a reader that answers with what it was asked shows that it was reached.
void ReadBack(const std::string& uri, const Responder<ReadResourceResult>& responder) {
  responder.Reply({{{uri, "text/plain", "static", {}}}, {3, true}});
}
void ReadTemplate(const std::string& uri, const Variables& variables,
                  const Responder<ReadResourceResult>& responder) {
  responder.Reply({{{uri, "", variables.at("id"), {}}}, {}});
}

class ResourceRegistryTest : public testing::Test {
 protected:
  ResourceRegistryTest() {
    resources_.Add({.uri = "test://one", .name = "one"}, ReadBack);
    resources_.Add({.uri = "test://item/x/data", .name = "x"}, ReadBack);
    resources_.AddTemplate({.uri_template = "test://item/{id}/data", .name = "item"}, ReadTemplate);
    resources_.Register(router_, {5, true}, 1);
  }

  std::string Text(std::string_view uri, ProtocolVersion version = kNewestLegacyVersion) {
    const auto call = Ask(router_, "resources/read", R"({"uri":")" + std::string(uri) + "\"}",
                          std::make_shared<FakeCall>(version));
    return std::string(call->replies.at(0).at("contents").at(0).at("text").get_string());
  }

  ResourceRegistry resources_;
  Router router_;
};

TEST_F(ResourceRegistryTest, ListsResourcesAndTemplates) {
  const auto modern = std::make_shared<FakeCall>(kModernVersion);
  EXPECT_EQ(WriteJson(Ask(router_, "resources/list", "{}", modern)->replies.at(0)),
            R"({"resources":[{"uri":"test://one","name":"one"}],"nextCursor":"1","ttlMs":5,)"
            R"("cacheScope":"public"})");
  EXPECT_EQ(WriteJson(Ask(router_, "resources/list", R"({"cursor":"1"})")->replies.at(0)),
            R"({"resources":[{"uri":"test://item/x/data","name":"x"}]})");
  EXPECT_EQ(WriteJson(Ask(router_, "resources/templates/list", "{}")->replies.at(0)),
            R"({"resourceTemplates":[{"uriTemplate":"test://item/{id}/data","name":"item"}]})");
}

TEST_F(ResourceRegistryTest, ReadsResourcesBeforeTemplates) {
  EXPECT_EQ(Text("test://one"), "static");
  EXPECT_EQ(Text("test://item/x/data"), "static");
  EXPECT_EQ(Text("test://item/1%202/data"), "1 2");
  const auto modern = Ask(router_, "resources/read", R"({"uri":"test://one"})",
                          std::make_shared<FakeCall>(kModernVersion));
  EXPECT_EQ(WriteJson(modern->replies.at(0)),
            R"({"contents":[{"uri":"test://one","mimeType":"text/plain","text":"static"}],)"
            R"("ttlMs":3,"cacheScope":"public"})");
}

TEST_F(ResourceRegistryTest, SaysWhatItDoesNotServe) {
  EXPECT_TRUE(resources_.Knows("test://one"));
  EXPECT_TRUE(resources_.Knows("test://item/7/data"));
  EXPECT_FALSE(resources_.Knows("test://two"));
  for (const auto& [version, code] :
       {std::pair(kNewestLegacyVersion, -32002), std::pair(kModernVersion, kInvalidParams)}) {
    const auto call = Ask(router_, "resources/read", R"({"uri":"test://two"})",
                          std::make_shared<FakeCall>(version));
    EXPECT_EQ(call->failures.at(0).code, code);
    EXPECT_EQ(call->failures.at(0).message, "Resource not found: test://two");
    EXPECT_EQ(WriteJson(call->failures.at(0).data.value()), R"({"uri":"test://two"})");
  }
  EXPECT_EQ(Ask(router_, "resources/read", "{}")->failures.at(0).message,
            "params.uri must be given");
}

TEST(ResourceMessagesTest, LeavesOutWhatARevisionDoesNotKnow) {
  ResourceDefinition resource = {
      .uri = "a:b", .name = "n", .title = "T", .description = "D.", .mime_type = "x/y", .size = 9};
  resource.annotations.audience = {"user"};
  resource.icons = {{"https://i", "", {}}};
  EXPECT_EQ(WriteJson(ToJson(resource, ProtocolVersion::k2024_11_05)),
            R"({"uri":"a:b","name":"n","description":"D.","mimeType":"x/y",)"
            R"("annotations":{"audience":["user"]}})");
  EXPECT_EQ(WriteJson(ToJson(resource, kModernVersion)),
            R"({"uri":"a:b","name":"n","title":"T","description":"D.","mimeType":"x/y",)"
            R"("annotations":{"audience":["user"]},"icons":[{"src":"https://i"}],"size":9})");
}

TEST(MatchTemplateTest, FindsTheVariables) {
  EXPECT_EQ(MatchTemplate("t://{id}", "t://1"), (Variables{{"id", "1"}}));
  EXPECT_EQ(MatchTemplate("{all}", "abc"), (Variables{{"all", "abc"}}));
  EXPECT_EQ(MatchTemplate("t://{a}/{b}.json", "t://x/y.json"), (Variables{{"a", "x"}, {"b", "y"}}));
  EXPECT_EQ(MatchTemplate("t://{a}-{b}", "t://1-2-3"), (Variables{{"a", "1"}, {"b", "2-3"}}));
  EXPECT_EQ(MatchTemplate("t://{a}-end", "t://x-end-end"), (Variables{{"a", "x-end"}}));
  EXPECT_EQ(MatchTemplate("t://{a}", "t://%C3%a4%25"), (Variables{{"a", "\xc3\xa4%"}}));
}

TEST(MatchTemplateTest, MatchesNothingElse) {
  for (const char* uri : {"", "t://", "t:///data", "t://1/2/data", "t://1%2F2/data", "t://1/data/",
                          "t://1/dat", "x://1/data", "t://%/data", "t://%4/data", "t://%zz/data",
                          "t://%-1/data", "t://1/data?x"}) {
    EXPECT_FALSE(MatchTemplate("t://{id}/data", uri).has_value()) << uri;
  }
}

TEST(ResourceRegistryDeathTest, RefusesProgramsThatAreWrong) {
  ResourceRegistry resources;
  resources.Add({.uri = "a:b", .name = "n"}, ReadBack);
  EXPECT_DEATH(resources.Add({.uri = "a:b", .name = "m"}, ReadBack), "uri");
  for (const char* text : {"t://{+a}", "t://{a,b}", "t://{a*}", "t://{}", "t://{a", "t://a}",
                           "t://{a}{b}", "t://{a}/{a}", "t://none", "t://{{a}}"}) {
    EXPECT_DEATH(ResourceRegistry().AddTemplate({.uri_template = text, .name = "n"}, ReadTemplate),
                 "parts")
        << text;
  }
}

}  // namespace
}  // namespace glovebox::mcp

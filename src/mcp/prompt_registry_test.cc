#include "mcp/prompt_registry.h"

#include <memory>
#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/fake_call.h"
#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

std::string CompleteError(std::string_view params) {
  const auto result = ParamsFromJson<CompleteParams>(json::parse(params).get_object());
  return result.ok() ? "" : result.error().message();
}

class PromptRegistryTest : public testing::Test {
 protected:
  PromptRegistryTest() {
    prompts_.Add({"greet", "Greeting", "Greets.", {{"who", "Whom.", true}, {"how", "", false}}, {}},
                 [](const PromptRegistry::Arguments& arguments, const auto& responder) {
                   responder.Reply({"A greeting.",
                                    {{Role::kUser, Text("Greet " + arguments.at("who"))},
                                     {Role::kAssistant, Text("Hello")}}});
                 });
    prompts_.AddCompleter(CompleteParams::Kind::kPrompt, "greet", [](const CompleteParams& params) {
      CompleteResult result;
      result.values = {params.argument_name + "=" + params.argument_value + "!"};
      for (const auto& [name, value] : params.known) result.values.push_back(name + ":" + value);
      return result;
    });
    prompts_.Register(router_, {5, false}, 10);
  }

  PromptRegistry prompts_;
  Router router_;
};

TEST_F(PromptRegistryTest, ListsPrompts) {
  EXPECT_EQ(WriteJson(Ask(router_, "prompts/list", "{}", std::make_shared<FakeCall>(kModernVersion))
                          ->replies.at(0)),
            R"({"prompts":[{"name":"greet","title":"Greeting","description":"Greets.",)"
            R"("arguments":[{"name":"who","description":"Whom.","required":true},)"
            R"({"name":"how","required":false}]}],"ttlMs":5,"cacheScope":"private"})");
}

TEST_F(PromptRegistryTest, GetsAPrompt) {
  EXPECT_EQ(WriteJson(Ask(router_, "prompts/get", R"({"name":"greet","arguments":{"who":"you"}})")
                          ->replies.at(0)),
            R"({"description":"A greeting.","messages":[{"role":"user","content":{"type":"text",)"
            R"("text":"Greet you"}},{"role":"assistant","content":{"type":"text",)"
            R"("text":"Hello"}}]})");
}

TEST_F(PromptRegistryTest, SaysWhatIsWrongWithARequest) {
  const auto failure = [&](std::string_view params) {
    const RpcError error = Ask(router_, "prompts/get", params)->failures.at(0);
    EXPECT_EQ(error.code, kInvalidParams);
    return error.message;
  };
  EXPECT_EQ(failure(R"({"name":"nope"})"), "Unknown prompt: nope");
  EXPECT_EQ(failure(R"({"name":"greet"})"), "params.arguments.who must be given");
  EXPECT_EQ(failure(R"({"name":"greet","arguments":{"who":1}})"),
            "params.arguments.who must be a string");
  EXPECT_EQ(failure(R"({"name":"greet","arguments":[]})"), "params.arguments must be an object");
}

TEST_F(PromptRegistryTest, CompletesArguments) {
  const auto complete = [&](std::string_view ref) {
    return WriteJson(Ask(router_, "completion/complete",
                         R"({"ref":)" + std::string(ref) +
                             R"(,"argument":{"name":"who","value":"y"},)"
                             R"("context":{"arguments":{"how":"well"}}})")
                         ->replies.at(0));
  };
  EXPECT_EQ(complete(R"({"type":"ref/prompt","name":"greet"})"),
            R"({"completion":{"values":["who=y!","how:well"],"hasMore":false}})");
  EXPECT_EQ(complete(R"({"type":"ref/prompt","name":"nope"})"),
            R"({"completion":{"values":[],"hasMore":false}})");
  EXPECT_EQ(complete(R"({"type":"ref/resource","uri":"greet"})"),
            R"({"completion":{"values":[],"hasMore":false}})");
}

TEST(PromptMessagesTest, ReadsCompletionsStrictly) {
  EXPECT_EQ(CompleteError("{}"), "params.ref must be given");
  EXPECT_EQ(CompleteError(R"({"ref":{}})"), "params.ref.type must be a string");
  EXPECT_EQ(CompleteError(R"({"ref":{"type":"ref/x"}})"),
            "params.ref.type must be ref/prompt or ref/resource");
  const std::string ref = R"({"ref":{"type":"ref/prompt","name":"p"},)";
  EXPECT_EQ(CompleteError(ref + R"("argument":{"name":"a"}})"),
            "params.argument.value must be a string");
  EXPECT_EQ(CompleteError(ref + R"("argument":{"name":"a","value":""},"context":{"arguments":1}})"),
            "params.context.arguments must be an object");
  EXPECT_EQ(CompleteError(ref + R"("argument":{"name":"a","value":""}})"), "");
}

TEST(PromptMessagesTest, CutsCompletionsAtTheProtocolsBound) {
  CompleteResult result;
  result.values.assign(101, "x");
  result.total = 101;
  const json::object completion = ToJson(result, kModernVersion).at("completion").get_object();
  EXPECT_EQ(completion.at("values").get_array().size(), 100u);
  EXPECT_EQ(completion.at("total"), 101);
  EXPECT_EQ(completion.at("hasMore"), true);
}

TEST(PromptRegistryDeathTest, RefusesANameTwice) {
  PromptRegistry prompts;
  prompts.Add({"p", "", "", {}, {}}, nullptr);
  EXPECT_DEATH(prompts.Add({"p", "", "", {}, {}}, nullptr), "name");
  EXPECT_FALSE(prompts.completes());
}

}  // namespace
}  // namespace glovebox::mcp

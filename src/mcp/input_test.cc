#include "mcp/input.h"

#include <string>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

TEST(InputTest, PutsQuestionsAsTheProtocolDoes) {
  const InputRequest form = FormElicitation{"Name?", {{"type", "object"}}};
  EXPECT_EQ(MethodOf(form), "elicitation/create");
  EXPECT_EQ(WriteJson(ParamsOf(form, kModernVersion)),
            R"({"message":"Name?","requestedSchema":{"type":"object"}})");

  const InputRequest page = UrlElicitation{"Sign in", "https://s", "v1"};
  EXPECT_EQ(MethodOf(page), "elicitation/create");
  EXPECT_EQ(WriteJson(ParamsOf(page, ProtocolVersion::k2025_11_25)),
            R"({"mode":"url","message":"Sign in","url":"https://s","elicitationId":"v1"})");
  EXPECT_EQ(WriteJson(ParamsOf(page, kModernVersion)),
            R"({"mode":"url","message":"Sign in","url":"https://s"})");

  const InputRequest sampling = SamplingRequest{{json::object{{"role", "user"}}}, "Be brief.", 50};
  EXPECT_EQ(MethodOf(sampling), "sampling/createMessage");
  EXPECT_EQ(WriteJson(ParamsOf(sampling, kModernVersion)),
            R"({"messages":[{"role":"user"}],"systemPrompt":"Be brief.","maxTokens":50})");

  EXPECT_EQ(MethodOf(RootsRequest{}), "roots/list");
  EXPECT_EQ(WriteJson(ParamsOf(RootsRequest{}, kModernVersion)), "{}");
}

TEST(InputTest, KnowsWhichCapabilityAQuestionNeeds) {
  const auto check = [](const InputRequest& request, bool ClientCapabilities::*member,
                        std::string_view needed) {
    ClientCapabilities all = {true, true, true, true, true};
    EXPECT_TRUE(IsDeclared(request, all));
    all.*member = false;
    EXPECT_FALSE(IsDeclared(request, all)) << needed;
    EXPECT_EQ(WriteJson(RequiredCapability(request)), needed);
  };
  check(FormElicitation{}, &ClientCapabilities::elicitation_form, R"({"elicitation":{"form":{}}})");
  check(UrlElicitation{}, &ClientCapabilities::elicitation_url, R"({"elicitation":{"url":{}}})");
  check(SamplingRequest{}, &ClientCapabilities::sampling, R"({"sampling":{}})");
  check(RootsRequest{}, &ClientCapabilities::roots, R"({"roots":{}})");
}

TEST(InputTest, NamesAllThatIsMissingTogether) {
  InputRequired input;
  input.requests = {{"a", FormElicitation{}}, {"b", UrlElicitation{}}, {"c", RootsRequest{}}};
  ClientCapabilities capabilities;
  EXPECT_EQ(WriteJson(UndeclaredFor(input, capabilities)),
            R"({"elicitation":{"form":{},"url":{}},"roots":{}})");
  capabilities.elicitation_form = capabilities.roots = true;
  EXPECT_EQ(WriteJson(UndeclaredFor(input, capabilities)), R"({"elicitation":{"url":{}}})");
  capabilities.elicitation_url = true;
  EXPECT_TRUE(UndeclaredFor(input, capabilities).empty());
  EXPECT_EQ(WriteJson(ToJson(RootsRequest{}, kModernVersion)),
            R"({"method":"roots/list","params":{}})");
}

TEST(InputTest, ReadsAnswersThatMayBeAnything) {
  const InputResponses answers(
      json::parse(R"({"yes":{"action":"accept","content":{"a":1}},"no":{"action":"decline"},)"
                  R"("odd":{"action":"accept","content":5},"bare":{"action":"accept"},)"
                  R"("strange":{"action":1,"content":{}},"number":3,"null":null})")
          .get_object());
  EXPECT_FALSE(answers.empty());
  ASSERT_NE(answers.Accepted("yes"), nullptr);
  EXPECT_EQ(answers.Accepted("yes")->at("a"), 1);
  EXPECT_NE(answers.Find("no"), nullptr);
  for (const char* key : {"no", "odd", "bare", "strange", "number", "null", "absent"}) {
    EXPECT_EQ(answers.Accepted(key), nullptr) << key;
  }
  for (const char* key : {"number", "null", "absent"}) EXPECT_EQ(answers.Find(key), nullptr) << key;
  EXPECT_TRUE(InputResponses().empty());
}

}  // namespace
}  // namespace glovebox::mcp

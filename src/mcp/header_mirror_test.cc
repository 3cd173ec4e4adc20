#include "mcp/header_mirror.h"

#include <string>
#include <vector>

#include <boost/json/array.hpp>

#include "mcp/http_endpoint_fixture.h"
#include "mcp/modern_call.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

class HeaderMirrorTest : public HttpEndpointFixture {
 protected:
  int CallWith(const json::object& body, HttpHeaders headers) {
    const Exchange exchange = Send(Modern(body, std::move(headers)));
    const int code = CodeOf(exchange);
    EXPECT_EQ(exchange->status, code == kHeaderMismatch ? 400u : 200u) << exchange->sent;
    return code;
  }
};

TEST(DecodeHeaderValueTest, StrictBase64BetweenTheMarkersElseLiteral) {
  const std::vector<std::pair<std::string, std::optional<std::string>>> cases = {
      {"Hello", "Hello"},
      {"", ""},
      {"=?base64?SGVsbG8=?=", "Hello"},
      {"=?base64?"
       "?=",
       ""},
      {"=?base64?SGVsbG8?=", std::nullopt},
      {"=?base64?SGVs!G8=?=", std::nullopt},
      {"=?base64?SGVsbG8==?=", std::nullopt},
      {"=?base64? SGVsbG8=?=", std::nullopt},
      {"SGVsbG8=?=", "SGVsbG8=?="},
      {"=?base64?SGVsbG8=", "=?base64?SGVsbG8="},
      {"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="},
      {"=?base64?=", "=?base64?="},
  };
  for (const auto& [value, meaning] : cases) EXPECT_EQ(DecodeHeaderValue(value), meaning) << value;
}

TEST_F(HeaderMirrorTest, Methods) {
  const auto code = [&](HttpHeaders headers) {
    headers.emplace_back("MCP-Protocol-Version", "2026-07-28");
    return CodeOf(Send(Post(json::serialize(ModernBody("tools/list")), std::move(headers))));
  };
  EXPECT_EQ(code({{"Mcp-Method", "tools/list"}}), 0);
  EXPECT_EQ(code({{"MCP-METHOD", " tools/list\t"}}), 0) << "blanks around it, any case of the name";
  EXPECT_EQ(code({}), kHeaderMismatch);
  EXPECT_EQ(code({{"Mcp-Method", "Tools/List"}}), kHeaderMismatch);
  EXPECT_EQ(code({{"Mcp-Method", "tools/call"}}), kHeaderMismatch);
  EXPECT_EQ(code({{"Mcp-Method", "tools/list"}, {"Mcp-Method", "tools/list"}}), kHeaderMismatch);
  EXPECT_EQ(code({{"Mcp-Method", "tools/list"}, {"Mcp-Method", "tools/call"}}), kHeaderMismatch);
}

TEST_F(HeaderMirrorTest, Names) {
  const auto body = ModernBody("tools/call", {{"name", "echo"}});
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", "echo"}}), 0);
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", "=?base64?ZWNobw==?="}}), 0);
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", "=?base64?ZWNobw=?="}}), kHeaderMismatch);
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", "Echo"}}), kHeaderMismatch);
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", ""}}), kHeaderMismatch);
  EXPECT_EQ(CallWith(body, {}), kHeaderMismatch);
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", "echo"}, {"Mcp-Name", "echo"}}), kHeaderMismatch);
}

TEST_F(HeaderMirrorTest, ANameThatTheBodyLacks) {
  const auto body = ModernBody("tools/call");
  EXPECT_EQ(CallWith(body, {{"Mcp-Name", "echo"}}), kHeaderMismatch);
  EXPECT_EQ(CallWith(body, {}), kInvalidParams) << "the handler says what is wrong";
}

TEST_F(HeaderMirrorTest, EveryMethodWithAName) {
  const std::vector<std::pair<std::string, std::string>> methods = {
      {"tools/call", "name"},  {"prompts/get", "name"},    {"resources/read", "uri"},
      {"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"}};
  for (const auto& [method, param] : methods) {
    const auto body = ModernBody(method, {{param, "x"}});
    const Exchange exchange = Send(Modern(body, {{"Mcp-Name", "y"}}));
    EXPECT_EQ(CodeOf(exchange), kHeaderMismatch) << method;
    EXPECT_NE(CodeOf(Send(Modern(body, {{"Mcp-Name", "x"}}))), kHeaderMismatch) << method;
  }
}

TEST_F(HeaderMirrorTest, Parameters) {
  struct Case {
    json::object arguments;
    HttpHeaders headers;
    int code;
  };
  const std::vector<Case> cases = {
      {{}, {}, 0},
      {{{"region", nullptr}}, {}, 0},
      {{}, {{"Mcp-Param-Region", "eu"}}, kHeaderMismatch},
      {{{"region", nullptr}}, {{"Mcp-Param-Region", "eu"}}, kHeaderMismatch},
      {{{"region", "eu"}}, {}, kHeaderMismatch},
      {{{"region", "eu"}}, {{"mcp-param-REGION", "eu"}}, 0},
      {{{"region", "eu"}}, {{"Mcp-Param-Region", "EU"}}, kHeaderMismatch},
      {{{"region", "eu"}}, {{"Mcp-Param-Region", "=?base64?ZXU=?="}}, 0},
      {{{"region", "eu"}}, {{"Mcp-Param-Region", "=?base64?ZXU?="}}, kHeaderMismatch},
      {{{"region", "\xc3\xa9"}}, {{"Mcp-Param-Region", "=?base64?w6k=?="}}, 0},
      {{{"region", "eu"}},
       {{"Mcp-Param-Region", "eu"}, {"Mcp-Param-Region", "eu"}},
       kHeaderMismatch},
      {{{"region", json::array{"eu"}}}, {}, 0},
      {{{"region", json::array{"eu"}}}, {{"Mcp-Param-Region", "eu"}}, kHeaderMismatch},
      {{{"level", 7}}, {{"Mcp-Param-Level", "7"}}, 0},
      {{{"level", 7}}, {{"Mcp-Param-Level", "07"}}, 0},
      {{{"level", 7}}, {{"Mcp-Param-Level", "7.0"}}, 0},
      {{{"level", 7.0}}, {{"Mcp-Param-Level", "7"}}, 0},
      {{{"level", -7}}, {{"Mcp-Param-Level", "-7"}}, 0},
      {{{"level", 7}}, {{"Mcp-Param-Level", "8"}}, kHeaderMismatch},
      {{{"level", 7}}, {{"Mcp-Param-Level", "7x"}}, kHeaderMismatch},
      {{{"level", 0}}, {{"Mcp-Param-Level", ""}}, kHeaderMismatch},
      {{{"level", 9007199254740993}}, {{"Mcp-Param-Level", "9007199254740992"}}, kHeaderMismatch},
      {{{"outer", {{"deep", true}}}}, {{"Mcp-Param-Deep", "true"}}, 0},
      {{{"outer", {{"deep", true}}}}, {{"Mcp-Param-Deep", "True"}}, kHeaderMismatch},
      {{{"outer", {{"deep", false}}}}, {}, kHeaderMismatch},
      {{{"outer", 5}}, {}, 0},
      {{}, {{"Mcp-Param-Unheard-Of", "x"}}, 0},
  };
  for (const Case& test : cases) {
    auto body = ModernBody("tools/call", {{"name", "region"}, {"arguments", test.arguments}});
    HttpHeaders headers = test.headers;
    headers.emplace_back("Mcp-Name", "region");
    EXPECT_EQ(CallWith(body, headers), test.code)
        << json::serialize(test.arguments)
        << (test.headers.empty() ? "" : " " + test.headers.front().second);
  }
}

TEST_F(HeaderMirrorTest, ParametersOfNoTool) {
  EXPECT_EQ(CallWith(ModernBody("tools/call", {{"name", "no_such"}, {"arguments", 5}}),
                     {{"Mcp-Name", "no_such"}}),
            kInvalidParams);
}

}  // namespace
}  // namespace glovebox::mcp

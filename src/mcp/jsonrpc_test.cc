#include "mcp/jsonrpc.h"

#include <string>

#include <gtest/gtest.h>

#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

template <typename T>
T Parse(std::string_view text, const ParseLimits& limits = {}) {
  auto parsed = ParseMessage(text, limits);
  const auto* message = std::get_if<Message>(&parsed);
  if (message == nullptr || !std::holds_alternative<T>(*message)) {
    ADD_FAILURE() << "another kind of message: " << text.substr(0, 200);
    return {};
  }
  return std::get<T>(*message);
}

struct Refusal {
  int code;
  std::string id;  // "none" when it could not be read
};
bool operator==(const Refusal& a, const Refusal& b) { return a.code == b.code && a.id == b.id; }
std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
  return out << refusal.code << " for id " << refusal.id;
}

Refusal RefusalOf(std::string_view text, const ParseLimits& limits = {}) {
  const auto invalid = Parse<InvalidMessage>(text, limits);
  return {invalid.error.code, invalid.id ? ToText(*invalid.id) : "none"};
}

TEST(JsonRpcTest, ReadsARequest) {
  const auto request =
      Parse<Request>(R"( {"jsonrpc":"2.0","id":7,"method":"m","params":{"a":[1]}} )");
  EXPECT_EQ(request.id, RequestId(7));
  EXPECT_EQ(request.method, "m");
  EXPECT_EQ(WriteJson(request.params), R"({"a":[1]})");
}

TEST(JsonRpcTest, KeepsStringAndIntegerIdsApart) {
  EXPECT_EQ(Parse<Request>(R"({"jsonrpc":"2.0","id":"7","method":"m"})").id, RequestId("7"));
  EXPECT_NE(RequestId("7"), RequestId(7));
  EXPECT_EQ(Parse<Request>(R"({"jsonrpc":"2.0","id":-9223372036854775808,"method":"m"})").id,
            RequestId(std::int64_t{INT64_MIN}));
  EXPECT_EQ(Parse<Request>(R"({"jsonrpc":"2.0","id":"","method":"m"})").id, RequestId(""));
}

TEST(JsonRpcTest, ReadsNotificationsAndResponses) {
  EXPECT_EQ(Parse<Notification>(R"({"jsonrpc":"2.0","method":"n"})").method, "n");
  const auto result = Parse<Response>(R"({"jsonrpc":"2.0","id":1,"result":{"x":null}})");
  EXPECT_EQ(WriteJson(std::get<boost::json::value>(result.outcome)), R"({"x":null})");
  const auto error =
      Parse<Response>(R"({"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no"}})");
  EXPECT_EQ(std::get<RpcError>(error.outcome).code, -5);
  EXPECT_EQ(std::get<RpcError>(error.outcome).message, "no");
}

TEST(JsonRpcTest, AnswersWhatIsNotJsonWithAParseError) {
  for (const char* text :
       {"", "{", "nonsense", "{} {}", "{\"a\":01}", "{\"a\":'b'}", "// c\n{}",
        "{\"jsonrpc\":\"2.0\",}", "\xef\xbb\xbf{}", "[1,2", "{\"a\":NaN}", "{\"a\":\"\xff\"}",
        "{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\t\"}"}) {
    EXPECT_EQ(RefusalOf(text), (Refusal{kParseError, "none"})) << text;
  }
}

TEST(JsonRpcTest, AnswersWhatIsNoMessageWithInvalidRequest) {
  for (const char* text :
       {"1", "\"x\"", "null", "[]", "{}", R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"2.0","method":5})",
        R"({"jsonrpc":"2.0","id":null,"method":"m"})", R"({"jsonrpc":"2.0","id":1.5,"method":"m"})",
        R"({"jsonrpc":"2.0","id":{},"method":"m"})",
        R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"m"})",
        R"({"jsonrpc":"2.0","id":123456789012345678901234,"method":"m"})",
        R"({"jsonrpc":"2.0","result":{}})"}) {
    EXPECT_EQ(RefusalOf(text), (Refusal{kInvalidRequest, "none"})) << text;
  }
}

TEST(JsonRpcTest, NamesTheRequestWhenItsIdCanBeRead) {
  EXPECT_EQ(RefusalOf(R"({"id":3,"method":"m"})"), (Refusal{kInvalidRequest, "3"}));
  EXPECT_EQ(RefusalOf(R"({"jsonrpc":"1.0","id":"a","method":"m"})"),
            (Refusal{kInvalidRequest, "\"a\""}));
  EXPECT_EQ(RefusalOf(R"({"jsonrpc":"2.0","id":3,"method":"m","params":[1]})"),
            (Refusal{kInvalidParams, "3"}));
  EXPECT_EQ(RefusalOf(R"({"jsonrpc":"2.0","id":3,"result":1,"error":{}})"),
            (Refusal{kInvalidRequest, "3"}));
}

TEST(JsonRpcTest, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(RefusalOf(R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})"),
            (Refusal{kInvalidRequest, "none"}));
  const auto nested = Parse<InvalidMessage>(
      R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"k":1,"\u006b":2}]}})");
  EXPECT_EQ(nested.error.message, "duplicate key \"k\"");
  // The same key in two objects is not twice.
  Parse<Request>(
      R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"k":{"k":{"k":1}},"l":{"k":1}}})");
}

TEST(JsonRpcTest, HoldsItsLimits) {
  const auto nested = [](int depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" +
           std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}}";
  };
  Parse<Request>(nested(62));
  EXPECT_EQ(RefusalOf(nested(63)), (Refusal{kInvalidRequest, "none"}));
  EXPECT_EQ(RefusalOf(std::string(8'000'000, '[')), (Refusal{kInvalidRequest, "none"}));

  std::string many = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[0)";
  for (int i = 0; i < 1000; ++i) many += ",0";
  many += "]}}";
  Parse<Request>(many);
  EXPECT_EQ(RefusalOf(many, {.values_max = 900}), (Refusal{kInvalidRequest, "none"}));
  EXPECT_EQ(RefusalOf(many, {.bytes_max = 1000}), (Refusal{kInvalidRequest, "none"}));
}

TEST(JsonRpcTest, ReadsBatches) {
  auto parsed = ParseMessage(R"([{"jsonrpc":"2.0","id":1,"method":"m"},7])");
  const auto* batch = std::get_if<Batch>(&parsed);
  ASSERT_NE(batch, nullptr);
  ASSERT_EQ(batch->size(), 2u);
  EXPECT_TRUE(std::holds_alternative<Request>((*batch)[0]));
  EXPECT_TRUE(std::holds_alternative<InvalidMessage>((*batch)[1]));
  EXPECT_EQ(RefusalOf("[1,2,3]", {.batch_max = 2}), (Refusal{kInvalidRequest, "none"}));
}

TEST(JsonRpcTest, WritesMessages) {
  EXPECT_EQ(WriteJson(ResultMessage(RequestId("a"), {})),
            R"({"jsonrpc":"2.0","id":"a","result":{}})");
  EXPECT_EQ(WriteJson(ErrorMessage(std::nullopt, {kParseError, "no", std::nullopt})),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})");
  EXPECT_EQ(WriteJson(NotificationMessage("n", {{"a", 1}})),
            R"({"jsonrpc":"2.0","method":"n","params":{"a":1}})");
}

TEST(JsonRpcTest, MapsOurErrorsToCodes) {
  EXPECT_EQ(ToRpcError(Error(Errc::kInvalidArgument, "x")).code, kInvalidParams);
  for (const Errc code : {Errc::kUnsupported, Errc::kLimit, Errc::kSystem, Errc::kInternal}) {
    EXPECT_EQ(ToRpcError(Error(code, "x")).code, kInternalError);
  }
}

}  // namespace
}  // namespace glovebox::mcp

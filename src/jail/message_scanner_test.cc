#include "jail/message_scanner.h"

#include <string>

#include <gtest/gtest.h>

namespace glovebox::jail {
namespace {

MessageScanner Scan(std::string_view text, std::size_t step = 1) {
  MessageScanner scanner;
  for (std::size_t i = 0; i < text.size(); i += step) scanner.Feed(text.substr(i, step));
  return scanner;
}

TEST(MessageScanner, KnowsAMessageWhereverItIsCut) {
  const std::string text =
      R"( {"method":"tools/call","params":{"id":9,"jsonrpc":"no"},"jsonrpc":"2.0","id":"a\"b"} )";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    const MessageScanner scanner = Scan(text, step);
    EXPECT_TRUE(scanner.is_message()) << step;
    EXPECT_EQ(scanner.method(), "tools/call") << step;
    EXPECT_EQ(scanner.id(), R"("a\"b")") << step;
    EXPECT_FALSE(scanner.failed()) << step;
  }
}

TEST(MessageScanner, IdsKeepTheirType) {
  EXPECT_EQ(Scan(R"({"jsonrpc":"2.0","id":7,"result":{}})").id(), "7");
  EXPECT_EQ(Scan(R"({"jsonrpc":"2.0","result":{},"id":"7"})").id(), "\"7\"");
}

TEST(MessageScanner, OtherLinesAreNoMessages) {
  for (const char* text : {"listening on stdio", "[info] up", "[info]", "{ nor: this }", "{}", "42",
                           R"({"jsonrpc":"2.0")", R"({"jsonrpc":"2.0"} and more)", R"("jsonrpc")",
                           R"({"text":"\"jsonrpc\":1"})"}) {
    EXPECT_FALSE(Scan(text).is_message()) << text;
  }
  EXPECT_TRUE(Scan(R"([{"jsonrpc":"2.0","id":1,"result":{}}])").is_message());
  EXPECT_TRUE(Scan(" \t").blank());
}

TEST(MessageScanner, FindsWhereAFailureCanBeExplained) {
  const std::string result =
      R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"]}"}],"isError":true}})";
  const MessageScanner failed = Scan(result);
  EXPECT_TRUE(failed.failed());
  ASSERT_TRUE(failed.content_end());
  EXPECT_EQ(result.substr(*failed.content_end(), 2), "],");
  EXPECT_FALSE(failed.content_empty());
  const std::string empty = R"({"result":{"isError":true,"content":[ ]},"jsonrpc":"2.0","id":1})";
  EXPECT_TRUE(Scan(empty).content_empty());
  const std::string error = R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no \"x\""}})";
  const MessageScanner refused = Scan(error);
  EXPECT_TRUE(refused.failed());
  ASSERT_TRUE(refused.error_message_end());
  EXPECT_EQ(error.substr(*refused.error_message_end()), "\"}}");
}

TEST(MessageScanner, SuccessIsNoFailure) {
  EXPECT_FALSE(
      Scan(R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}})").failed());
  EXPECT_FALSE(Scan(R"({"jsonrpc":"2.0","id":1,"result":{"x":{"isError":true}}})").failed());
}

TEST(MessageScanner, LongTextsKeepOffsetsRight) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"text":")" +
                           std::string(5000, 'x') + R"(\"y"}],"isError":true}})";
  for (const std::size_t step : {1ul, 7ul, 4096ul}) {
    const MessageScanner scanner = Scan(text, step);
    ASSERT_TRUE(scanner.content_end()) << step;
    EXPECT_EQ(text[*scanner.content_end()], ']') << step;
    EXPECT_TRUE(scanner.is_message()) << step;
  }
}

}  // namespace
}  // namespace glovebox::jail

#include "mcp/json_writer.h"

#include <cmath>
#include <limits>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "mcp/utf8.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

TEST(JsonWriterTest, WritesWhatItReadCompactly) {
  const std::string text =
      R"({"a":[1,-2,18446744073709551615,true,false,null,{}],"b":{"c":"d"},"e":[],"f":0.25})";
  EXPECT_EQ(WriteJson(json::parse(text)), text);
}

TEST(JsonWriterTest, WritesDoublesLikePeople) {
  EXPECT_EQ(WriteJson(json::value(0.001234)), "0.001234");
  EXPECT_EQ(WriteJson(json::value(4.0)), "4.0");
  EXPECT_EQ(WriteJson(json::value(1e300)), "1e+300");
  EXPECT_EQ(WriteJson(json::value(-0.0)), "-0.0");
  EXPECT_EQ(WriteJson(json::value(std::nan(""))), "null");
  EXPECT_EQ(WriteJson(json::value(-std::numeric_limits<double>::infinity())), "null");
}

TEST(JsonWriterTest, KeepsAStringOnOneLine) {
  EXPECT_EQ(WriteJson(json::value("a\nb\r\t\"\\\b\f\x01\x7f")),
            "\"a\\nb\\r\\t\\\"\\\\\\b\\f\\u0001\x7f\"");
  EXPECT_EQ(WriteJson(json::value(json::string_view("\0", 1))), "\"\\u0000\"");
}

TEST(JsonWriterTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(WriteJson(json::value("gr\xc3\xbc\xc3\x9f\xf0\x9f\x90\x8d")),
            "\"gr\xc3\xbc\xc3\x9f\xf0\x9f\x90\x8d\"");
  EXPECT_EQ(WriteJson(json::value("\xff|\xc3|\xed\xa0\x80|\xf0\x9f\x90")),
            "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\"");
}

TEST(Utf8Test, TellsInvalidFromIncomplete) {
  EXPECT_EQ(NextUtf8("\xe2\x82").kind, Utf8Kind::kIncomplete);
  EXPECT_EQ(NextUtf8("\xe2\x82\xac").length, 3u);
  EXPECT_EQ(NextUtf8("\xe2x").kind, Utf8Kind::kInvalid);
  EXPECT_EQ(NextUtf8("\xc0\x80").kind, Utf8Kind::kInvalid);
  EXPECT_EQ(NextUtf8("\xf4\x90\x80\x80").kind, Utf8Kind::kInvalid);
  EXPECT_EQ(NextUtf8("\xed\xa0\x80").kind, Utf8Kind::kInvalid);
}

TEST(Utf8Test, CountsAndCutsByCodePoint) {
  const std::string_view text = "a\xc3\xbc\xf0\x9f\x90\x8dz";
  EXPECT_EQ(CountCodePoints(text), 4u);
  EXPECT_EQ(PrefixOfCodePoints(text, 3), 7u);
  EXPECT_EQ(PrefixOfCodePoints(text, 99), text.size());
}

}  // namespace
}  // namespace glovebox::mcp

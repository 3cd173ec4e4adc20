#include "mcp/json_writer.h"

#include <cmath>
#include <limits>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace glovebox::mcp

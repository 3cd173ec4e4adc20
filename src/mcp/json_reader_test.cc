#include "mcp/json_reader.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

using testing::HasSubstr;

Result<boost::json::value> Read(std::string_view text) { return ReadJson(text, {10, 1000}); }

TEST(JsonReaderTest, EveryDoubleArrivesAsItWasSent) {
  std::mt19937_64 random(20260728);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    // With an exponent, so that it is no integer to the reader.
    std::array<char, 64> buffer{};
    const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                          std::chars_format::scientific)
                                .ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const auto value = Read(text);
    ASSERT_TRUE(value.ok()) << text;
    EXPECT_EQ(value->as_double(), number) << text;
  }
}

TEST(JsonReaderTest, RoundsToTheNearestDouble) {
  EXPECT_EQ(Read("9007199254740993.5")->as_double(), 9007199254740994.0);
  EXPECT_EQ(Read("0.1")->as_double(), 0.1);
  EXPECT_EQ(Read("1e-999")->as_double(), 0.0);
  EXPECT_EQ(Read("-4.9e-324")->as_double(), -4.9e-324);
  EXPECT_TRUE(std::signbit(Read("-0.0")->as_double()));
}

TEST(JsonReaderTest, IntegersStayWholeAsLongAsTheyFit) {
  EXPECT_EQ(Read("-9223372036854775808")->as_int64(), INT64_MIN);
  EXPECT_EQ(Read("18446744073709551615")->as_uint64(), UINT64_MAX);
  EXPECT_EQ(Read("18446744073709551616")->as_double(), 18446744073709551616.0);
}

TEST(JsonReaderTest, NoNumberIsInfinite) {
  for (const std::string& text :
       {std::string("1e999"), std::string("[-1e999]"), std::string("1") + std::string(400, '0')}) {
    const auto value = Read(text);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(value.error().code(), Errc::kLimit);
    EXPECT_THAT(value.error().message(), HasSubstr("number out of range: "));
    EXPECT_LT(value.error().message().size(), 100u);
  }
}

}  // namespace
}  // namespace glovebox::mcp

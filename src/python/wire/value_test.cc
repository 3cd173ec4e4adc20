#include "python/wire/value.h"

#include <string>

#include <gtest/gtest.h>

#include "python/wire/codec.h"

namespace glovebox::wire {
namespace {

std::string Encoded(const Value& value) {
  Writer writer;
  WriteValue(writer, value);
  return std::move(writer).Take();
}

Value RoundTrip(const Value& value) {
  const std::string bytes = Encoded(value);
  Reader reader(bytes);
  Value out = ReadValue(reader);
  EXPECT_TRUE(reader.finished());
  return out;
}

TEST(ValueTest, EveryKindSurvivesTheWire) {
  const Value value{Value::Dict{{"null", {}},
                                {"bool", {true}},
                                {"int", {std::int64_t{-5}}},
                                {"uint", {std::uint64_t{1} << 63}},
                                {"double", {2.5}},
                                {"text", {std::string("caf\xc3\xa9\0x", 7)}},
                                {"list", {Value::List{{std::int64_t{1}}, {std::string("a")}}}}}};
  const Value out = RoundTrip(value);
  const auto& dict = std::get<Value::Dict>(out.data);
  ASSERT_EQ(dict.size(), 7u);
  EXPECT_TRUE(dict[0].value.is_null());
  EXPECT_EQ(std::get<bool>(dict[1].value.data), true);
  EXPECT_EQ(std::get<std::int64_t>(dict[2].value.data), -5);
  EXPECT_EQ(std::get<std::uint64_t>(dict[3].value.data), std::uint64_t{1} << 63);
  EXPECT_EQ(std::get<double>(dict[4].value.data), 2.5);
  EXPECT_EQ(std::get<std::string>(dict[5].value.data).size(), 7u);
  EXPECT_EQ(std::get<Value::List>(dict[6].value.data).size(), 2u);
}

TEST(ValueTest, RefusesNestingBeyondTheBound) {
  Value value;
  for (int i = 0; i <= kValueDepthMax; ++i) value = Value{Value::List{value}};
  const std::string bytes = Encoded(value);
  Reader reader(bytes);
  ReadValue(reader);
  EXPECT_FALSE(reader.ok());
}

TEST(ValueTest, RefusesAnUnknownKind) {
  Reader reader("\x7f");
  ReadValue(reader);
  EXPECT_FALSE(reader.ok());
}

TEST(ValueTest, RefusesACountThatCannotBe) {
  const std::string bytes("\x06\xff\xff\xff\xff", 5);  // a list of four thousand million items
  Reader reader(bytes);
  ReadValue(reader);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace glovebox::wire

#include "mcp/content.h"

#include <string>

#include <gtest/gtest.h>

#include "mcp/json_writer.h"

namespace glovebox::mcp {
namespace {

constexpr auto k2024 = ProtocolVersion::k2024_11_05;
constexpr auto kMarch = ProtocolVersion::k2025_03_26;
constexpr auto kJune = ProtocolVersion::k2025_06_18;

std::string Written(const ContentBlock& block, ProtocolVersion version) {
  return WriteJson(ToJson(block, version));
}

TEST(ContentTest, WritesEveryKindOfBlock) {
  EXPECT_EQ(Written(Text("hi"), k2024), R"({"type":"text","text":"hi"})");
  EXPECT_EQ(Written({ImageContent{"AA==", "image/png"}, {}}, k2024),
            R"({"type":"image","data":"AA==","mimeType":"image/png"})");
  EXPECT_EQ(Written({AudioContent{"AA==", "audio/wav"}, {}}, kMarch),
            R"({"type":"audio","data":"AA==","mimeType":"audio/wav"})");
  EXPECT_EQ(Written({ResourceLink{"a:b", "n", "T", "D.", "text/plain"}, {}}, kJune),
            R"({"type":"resource_link","uri":"a:b","name":"n","title":"T","description":"D.",)"
            R"("mimeType":"text/plain"})");
  EXPECT_EQ(Written({EmbeddedResource{{"a:b", "", "hi", {}}}, {}}, k2024),
            R"({"type":"resource","resource":{"uri":"a:b","text":"hi"}})");
  EXPECT_EQ(Written({EmbeddedResource{{"a:b", "x/y", "unused", "AA=="}}, {}}, k2024),
            R"({"type":"resource","resource":{"uri":"a:b","mimeType":"x/y","blob":"AA=="}})");
}

TEST(ContentTest, NamesInTextWhatARevisionDoesNotKnow) {
  EXPECT_EQ(Written({AudioContent{"AA==", "audio/wav"}, {}}, k2024),
            R"({"type":"text","text":"[audio, audio/wav]"})");
  EXPECT_EQ(Written({ResourceLink{"a:b", "n", "", "", ""}, {}}, kMarch),
            R"({"type":"text","text":"[resource n: a:b]"})");
}

TEST(ContentTest, AnnotatesAsTheRevisionKnows) {
  ContentBlock block = Text("hi");
  block.annotations = {{"user"}, 0.5, "2026-01-01T00:00:00Z"};
  EXPECT_EQ(Written(block, kMarch),
            R"({"type":"text","text":"hi","annotations":{"audience":["user"],"priority":0.5}})");
  EXPECT_EQ(Written(block, kJune),
            R"({"type":"text","text":"hi","annotations":{"audience":["user"],"priority":0.5,)"
            R"("lastModified":"2026-01-01T00:00:00Z"}})");
}

TEST(ContentTest, LeavesOutWhatIsEmptyOrUnknown) {
  boost::json::object object;
  AddText(object, "a", "");
  AddTitle(object, "T", kMarch);
  AddIcons(object, {{"https://i", "", {}}}, kJune);
  AddIcons(object, {}, kModernVersion);
  AddAnnotations(object, {}, kModernVersion);
  EXPECT_TRUE(object.empty());
  AddTitle(object, "T", kJune);
  AddIcons(object, {{"https://i", "", {}}}, ProtocolVersion::k2025_11_25);
  EXPECT_EQ(WriteJson(object), R"({"title":"T","icons":[{"src":"https://i"}]})");
}

}  // namespace
}  // namespace glovebox::mcp

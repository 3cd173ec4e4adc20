#include "mcp/page.h"

#include <gtest/gtest.h>

namespace glovebox::mcp {
namespace {

TEST(PageTest, LeadsThroughTheListOnce) {
  std::optional<std::string> cursor;
  std::size_t seen = 0;
  for (int pages = 0; pages < 3; ++pages) {
    const auto page = FindPage(cursor, 7, 3);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->begin, seen);
    seen = page->end;
    cursor = page->next_cursor;
  }
  EXPECT_EQ(seen, 7u);
  EXPECT_FALSE(cursor.has_value());
}

TEST(PageTest, AListThatFitsIsOnePage) {
  for (const std::size_t count : {0u, 1u, 3u}) {
    const auto page = FindPage(std::nullopt, count, 3);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->begin, 0u);
    EXPECT_EQ(page->end, count);
    EXPECT_FALSE(page->next_cursor.has_value());
  }
}

TEST(PageTest, RefusesCursorsItDidNotHandOut) {
  ASSERT_TRUE(FindPage("3", 7, 3).ok());
  for (const char* cursor :
       {"", "0", "03", "+3", " 3", "3 ", "3x", "2", "9", "-3", "3.0", "99999999999999999999999"}) {
    const auto page = FindPage(cursor, 7, 3);
    ASSERT_FALSE(page.ok()) << cursor;
    EXPECT_EQ(page.error().code(), Errc::kInvalidArgument);
    EXPECT_EQ(page.error().message(), "params.cursor must be a nextCursor that this list returned");
  }
}

}  // namespace
}  // namespace glovebox::mcp

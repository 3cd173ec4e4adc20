#include "mcp/page.h"

#include <algorithm>
#include <charconv>

#include "mcp/params.h"

namespace glovebox::mcp {
namespace {

// Cursors are where the page begins, in decimal. Nothing but the one way to write it counts, so
// that what clients take for opaque stays ours to change.
std::optional<std::size_t> BeginOf(const std::string& cursor) {
  std::size_t begin = 0;
  const char* const end = cursor.data() + cursor.size();
  const auto [stop, error] = std::from_chars(cursor.data(), end, begin);
  if (error != std::errc() || stop != end || std::to_string(begin) != cursor) return std::nullopt;
  return begin;
}

}  // namespace

Result<Page> FindPage(const std::optional<std::string>& cursor, std::size_t count,
                      std::size_t page_items_max) {
  CHECK(page_items_max > 0);
  Page page;
  if (cursor) {
    const auto begin = BeginOf(*cursor);
    if (!begin || *begin == 0 || *begin >= count || *begin % page_items_max != 0) {
      return WrongField("cursor", "a nextCursor that this list returned");
    }
    page.begin = *begin;
  }
  page.end = page.begin + std::min(page_items_max, count - page.begin);
  if (page.end < count) page.next_cursor = std::to_string(page.end);
  return page;
}

}  // namespace glovebox::mcp

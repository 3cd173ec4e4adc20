#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// Lists, page by page: tools, resources, templates, prompts.

// One page of a list that does not change under the client's hands.
struct Page {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<std::string> next_cursor;
};

// The page of a list of `count` items, `page_items_max` each, that `cursor` names; the first
// without one. kInvalidArgument for a cursor that we did not hand out.
Result<Page> FindPage(const std::optional<std::string>& cursor, std::size_t count,
                      std::size_t page_items_max);

// The answer to a list method. A Definition has a ToJson, and its list's key as kListKey.
template <typename Definition>
struct ListResult {
  std::vector<const Definition*> items;  // not owned: they live in the registry
  std::optional<std::string> next_cursor;
  CacheHint cache;
};

template <typename Definition>
boost::json::object ToJson(const ListResult<Definition>& result, ProtocolVersion version) {
  boost::json::array items;
  items.reserve(result.items.size());
  for (const Definition* item : result.items) items.emplace_back(ToJson(*item, version));
  boost::json::object object;
  object.emplace(Definition::kListKey, std::move(items));
  if (result.next_cursor) object.emplace("nextCursor", *result.next_cursor);
  AddCacheHint(object, result.cache, version);
  return object;
}

}  // namespace glovebox::mcp

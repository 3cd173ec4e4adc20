#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/page.h"
#include "mcp/params.h"
#include "mcp/router.h"

namespace glovebox::mcp {

// How a registry answers its list method.
struct ListOptions {
  CacheHint cache;
  std::size_t page_items_max = 0;
};

// Answers `method` with the definitions of `entries`, in their order. `definition_of` leads from an
// entry to its definition. `entries` must outlive the router's use.
template <typename Definition, typename Entry, typename DefinitionOf>
void HandleList(Router& router, std::string_view method, const std::vector<Entry>& entries,
                const ListOptions& options, DefinitionOf definition_of) {
  router.Handle<PageParams, ListResult<Definition>>(
      method, [&entries, options, definition_of = std::move(definition_of)](
                  const PageParams& params, const Responder<ListResult<Definition>>& responder) {
        auto page = FindPage(params.cursor, entries.size(), options.page_items_max);
        if (!page) return responder.Fail(page.error());
        ListResult<Definition> result;
        result.items.reserve(page->end - page->begin);
        for (std::size_t i = page->begin; i < page->end; ++i) {
          result.items.push_back(&definition_of(entries[i]));
        }
        result.next_cursor = std::move(page->next_cursor);
        result.cache = options.cache;
        responder.Reply(std::move(result));
      });
}

}  // namespace glovebox::mcp

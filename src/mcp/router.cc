#include "mcp/router.h"

namespace glovebox::mcp {

const Router::RawHandler* Router::Find(std::string_view method) const {
  const auto found = handlers_.find(method);
  return found == handlers_.end() ? nullptr : &found->second;
}

void Router::Add(std::string_view method, RawHandler handler) {
  const bool added = handlers_.emplace(method, std::move(handler)).second;
  CHECK(added);  // two handlers for one method
}

}  // namespace glovebox::mcp

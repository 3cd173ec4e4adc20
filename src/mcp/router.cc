#include "mcp/router.h"

namespace glovebox::mcp {

const Router::RawHandler* Router::Find(std::string_view method, ProtocolVersion version) const {
  const auto found = handlers_.find(method);
  if (found == handlers_.end()) return nullptr;
  const Entry& entry = found->second;
  const Eras wanted = IsModern(version) ? Eras::kModern : Eras::kLegacy;
  return entry.eras == Eras::kBoth || entry.eras == wanted ? &entry.handler : nullptr;
}

void Router::Add(std::string_view method, Eras eras, RawHandler handler) {
  const bool added = handlers_.emplace(method, Entry{eras, std::move(handler)}).second;
  CHECK(added);  // two handlers for one method
}

}  // namespace glovebox::mcp

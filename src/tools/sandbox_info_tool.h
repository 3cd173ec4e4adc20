#pragma once

#include <cstdint>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "mcp/resource_registry.h"
#include "mcp/tool_registry.h"
#include "policy/profile_offer.h"
#include "tools/box_inventory.h"
#include "tools/run_limits.h"

namespace glovebox {

// The container tier of a server.
struct ContainerTerms {
  bool enabled = false;
  std::string runtime;  // how people call it; empty: not available
  std::string reason;   // why it is not
  std::string image;    // empty: made of the host's files
  std::uint32_t warm = 0;
};

// As clients know it: available, enabled and the rest.
boost::json::object ContainerMode(const ContainerTerms& terms);

// What a server lets its callers do.
struct SandboxTerms {
  RunLimits limits;
  policy::ProfileOffer offer = {.enabled = {"basic", "full"}};
  ContainerTerms containers = {};
};

// The document of get_sandbox_info: what `inventory` found in a box, and what the server allows.
boost::json::object SandboxInfo(const boost::json::object& inventory, const SandboxTerms& terms);

// What keeps code in its box where the walls of `missing_walls` are missing, one sentence each.
boost::json::array WallsInWords(const boost::json::array& missing_walls);

// The tool `get_sandbox_info`: Python's version, packages, limits and walls. Says what is: nothing
// in it is a plan or a promise of another version.
class SandboxInfoTool final : public mcp::Tool {
 public:
  // `inventory` must outlive every call.
  SandboxInfoTool(BoxInventory& inventory, SandboxTerms terms);

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  BoxInventory& inventory_;
  const SandboxTerms terms_;
  const mcp::ToolDefinition definition_;
};

// The same document as the resource `glovebox://sandbox-info`, for clients that show resources to
// people or attach them to a conversation. `inventory` must outlive every read.
void AddSandboxInfoResource(mcp::ResourceRegistry& resources, BoxInventory& inventory,
                            SandboxTerms terms);

}  // namespace glovebox

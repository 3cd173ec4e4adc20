#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "mcp/tool_registry.h"
#include "policy/profile_offer.h"
#include "tools/run_limits.h"
#include "tools/sandbox_info_tool.h"

namespace glovebox {

// The tool `list_capabilities`: the subject of get_sandbox_info in the shape that clients of an
// older generation know. Answers from what is known at the start; no box is asked.
class ListCapabilitiesTool final : public mcp::Tool {
 public:
  ListCapabilitiesTool(RunLimits limits, const policy::ProfileOffer& offer,
                       const std::vector<std::string>& missing_walls,
                       const ContainerTerms& containers = {});

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  const boost::json::object answer_;
  const mcp::ToolDefinition definition_;
};

}  // namespace glovebox

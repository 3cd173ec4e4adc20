#pragma once

#include <memory>
#include <vector>

#include <boost/json/object.hpp>

#include "mcp/call.h"
#include "mcp/protocol.h"
#include "mcp/router.h"

namespace glovebox {

using ToolResponder = mcp::Responder<mcp::CallToolResult>;

// One MCP tool: its description for models, and the way from arguments to a result.
//
// Thread rule: the session's thread. A tool serves any number of calls at once, of any session.
class Tool {
 public:
  virtual ~Tool() = default;

  // The same at every call: clients cache it.
  virtual const mcp::ToolDefinition& definition() const = 0;

  // `arguments` is what the client sent, checked against nothing. A bad argument is a result with
  // is_error that names it (the model can mend it); Fail is for failures of ours.
  virtual void Call(const boost::json::object& arguments, ToolResponder responder) = 0;
};

// The tools of a server, in the order in which clients see them. Answers tools/list and tools/call.
class ToolSet {
 public:
  void Add(std::unique_ptr<Tool> tool);

  // The set must outlive the router's use.
  void Register(mcp::Router& router);

 private:
  Tool* Find(std::string_view name) const;

  std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace glovebox

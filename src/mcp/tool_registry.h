#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "mcp/call.h"
#include "mcp/router.h"
#include "mcp/tool_messages.h"

namespace glovebox::mcp {

using ToolResponder = Responder<CallToolResult>;

// One tool: its description for models, and the way from arguments to a result.
//
// Thread rule: the thread of the server's io_context. A tool serves any number of calls at once, of
// any client.
class Tool {
 public:
  virtual ~Tool() = default;

  // The same at every call: clients cache it.
  virtual const ToolDefinition& definition() const = 0;

  // `arguments` is what the client sent, checked against nothing. A bad argument is a result with
  // is_error that names it (the model can mend it); Fail is for failures of ours.
  virtual void Call(const boost::json::object& arguments, ToolResponder responder) = 0;
};

// A tool property whose value the client repeats in a header, `Mcp-Param-<header>`, so that
// gateways can route by it (`x-mcp-header` in the schema; modern HTTP only).
struct HeaderParameter {
  std::string header;             // as in the schema; compared without case
  std::vector<std::string> path;  // the chain of property names that leads to the value
};

// The tools of a server, in the order in which clients see them.
class ToolRegistry {
 public:
  using Handler = std::function<void(const boost::json::object& arguments, ToolResponder)>;

  // A name twice, or an x-mcp-header that breaks its rules, is a CHECK: the program is wrong.
  void Add(std::unique_ptr<Tool> tool);
  void Add(ToolDefinition definition, Handler handler);

  bool empty() const { return tools_.empty(); }
  // Empty when `tool` is unknown or wants none.
  const std::vector<HeaderParameter>& HeaderParametersOf(std::string_view tool) const;

  // Answers tools/list and tools/call. The registry must outlive the router's use.
  void Register(Router& router, CacheHint cache, std::size_t page_items_max);

 private:
  struct Entry {
    std::unique_ptr<Tool> tool;
    std::vector<HeaderParameter> header_parameters;
  };
  const Entry* Find(std::string_view name) const;

  std::vector<Entry> tools_;
};

}  // namespace glovebox::mcp

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>

#include "mcp/admission.h"
#include "mcp/change_feed.h"
#include "mcp/jsonrpc.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/prompt_registry.h"
#include "mcp/request_state.h"
#include "mcp/resource_registry.h"
#include "mcp/router.h"
#include "mcp/task_store.h"
#include "mcp/tool_registry.h"

namespace glovebox::mcp {

struct ServerOptions {
  Implementation info;
  std::string instructions;
  ParseLimits limits;
  // Requests of one connection without an answer yet. One more is refused with an error, so that
  // reading can go on and a cancellation can still arrive.
  std::size_t in_flight_max = 256;
  // After the end of input on stdio, answers still under way get this long. Long enough for a
  // script that pipes its requests in, shorter than the two seconds after which clients send
  // SIGTERM.
  std::chrono::milliseconds drain_max{1000};
  std::size_t page_items_max = 100;
  CacheHint cache = {5 * 60 * 1000, true};  // of discovery and lists
  bool tasks = true;                        // offer the tasks extension
  bool logging = false;                     // handlers use Call::Log
  // What changes while the server runs and is told to subscribers (ChangeFeed::Publish).
  ChangeFeed::Offered changes;
  AdmissionOptions admission;
  TaskOptions task_options;
};

// What a server offers, shared by all its clients however they are connected. Fill the registries,
// call Open once, then hand it to connections (stream_connection.h, http_endpoint.h).
//
// Thread rule: the thread of the io_context behind `executor`.
class Server {
 public:
  Server(const boost::asio::any_io_executor& executor, ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ToolRegistry& tools() { return tools_; }
  ResourceRegistry& resources() { return resources_; }
  PromptRegistry& prompts() { return prompts_; }
  ChangeFeed& changes() { return changes_; }
  TaskStore& tasks() { return tasks_; }
  Admission& admission() { return admission_; }
  const RequestStateSealer& sealer() const { return sealer_; }

  // Registers the methods of everything that was added. After it nothing may be added.
  void Open();

  const Router& router() const { return router_; }
  Router& router() { return router_; }  // methods beyond the protocol's, before Open
  const ServerOptions& options() const { return options_; }
  const boost::asio::any_io_executor& executor() const { return executor_; }
  // A place among the principal's requests, or the error to refuse with.
  std::optional<RpcError> Admit(const std::string& principal, Admission::Ticket& ticket,
                                Admission::Share share = Admission::Share::kPlace);

  // As `initialize` or `server/discover` announces them.
  boost::json::object Capabilities(ProtocolVersion version) const;
  InitializeResult Welcome(ProtocolVersion version) const;

  // Called for each finished request: method, error code (0: a result), seconds. For metrics.
  std::function<void(std::string_view method, int error_code, double seconds)> on_request;

 private:
  const boost::asio::any_io_executor executor_;
  const ServerOptions options_;
  ToolRegistry tools_;
  ResourceRegistry resources_;
  PromptRegistry prompts_;
  ChangeFeed changes_;
  TaskStore tasks_;
  Admission admission_;
  RequestStateSealer sealer_;
  Router router_;
};

}  // namespace glovebox::mcp

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/configuration.h"
#include "app/log.h"
#include "app/observed_executor.h"
#include "base/result.h"
#include "executor/executor.h"
#include "mcp/server.h"
#include "tools/box_inventory.h"
#include "tools/sandbox_info_tool.h"

namespace glovebox {

// What `serve` offers, however its clients are connected: boxes, and the MCP server whose tools run
// code in them.
//
// Thread rule: the thread that runs the io_context. Connections must be gone before the service is.
class PythonService {
 public:
  // Fails when no box can be built on this host, or the audit log cannot be kept; warns where boxes
  // are weaker than promised because the operator allows it. `context` and `log` must outlive the
  // service.
  static Result<std::unique_ptr<PythonService>> Create(boost::asio::io_context& context,
                                                       const Configuration& configuration,
                                                       const Log& log);
  ~PythonService();
  PythonService(const PythonService&) = delete;
  PythonService& operator=(const PythonService&) = delete;

  mcp::Server& server() { return server_; }
  // The boxes themselves: what runs here is not told to on_execution.
  Executor& boxes() { return *boxes_; }

  // Hears of every execution a client asked for. May be empty.
  std::function<void(const Outcome&)> on_execution;

 private:
  PythonService(boost::asio::io_context& context, const Configuration& configuration,
                std::unique_ptr<Executor> boxes, std::unique_ptr<Executor> audited,
                const std::vector<std::string>& missing_walls, const ContainerTerms& containers);

  // The calls of clients live in the boxes' handlers and refer to the server: it goes last.
  mcp::Server server_;
  std::unique_ptr<Executor> boxes_;
  std::unique_ptr<Executor> audited_;  // in front of the boxes; null without an audit log
  ObservedExecutor executor_;
  BoxInventory inventory_;
};

}  // namespace glovebox

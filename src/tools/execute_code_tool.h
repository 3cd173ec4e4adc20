#pragma once

#include <chrono>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>

#include "executor/executor.h"
#include "mcp/tool_registry.h"
#include "policy/profile_offer.h"
#include "tools/profile_table.h"
#include "tools/run_limits.h"

namespace glovebox {

struct ExecuteCodeOptions {
  RunLimits limits;
  policy::ProfileOffer offer = {.enabled = {"basic", "full"}};
  // A run that lasts longer goes on as a task, if the client declared tasks on the call: nobody has
  // to hold a connection open for it.
  std::chrono::milliseconds task_after{1000};
};

// The tool `execute_code`: Python in a fresh box.
//
// What the program did, a failure or a timeout included, is a normal result (is_error false,
// success false). is_error is for arguments that break the schema. What is printed is reported as
// progress while it runs, to clients that asked; a call or a task that is cancelled kills its box.
class ExecuteCodeTool final : public mcp::Tool {
 public:
  // `executor` must outlive every call; `io` is where timers run.
  ExecuteCodeTool(boost::asio::any_io_executor io, Executor& executor,
                  ExecuteCodeOptions options = {});

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  boost::asio::any_io_executor io_;
  Executor& executor_;
  const ExecuteCodeOptions options_;
  const ProfileTable profiles_;
  const mcp::ToolDefinition definition_;
};

}  // namespace glovebox

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "executor/executor.h"
#include "mcp/tool_registry.h"

namespace glovebox {

struct ExecuteCodeOptions {
  std::uint32_t timeout_s_default = 30;
  std::uint32_t timeout_s_max = 300;
  std::uint64_t memory_bytes_default = 128ull << 20;
  std::uint64_t memory_bytes_min = 16ull << 20;  // less does not hold an interpreter at work
  std::uint64_t memory_bytes_max = 4ull << 30;
  std::size_t code_chars_max = 100'000;
};

// The tool `execute_code`: Python in a fresh box.
//
// What the program did, a failure or a timeout included, is a normal result (is_error false,
// success false). is_error is for arguments that break the schema.
class ExecuteCodeTool final : public mcp::Tool {
 public:
  // `executor` must outlive every call; `io` is where timers for progress run.
  ExecuteCodeTool(boost::asio::any_io_executor io, Executor& executor,
                  ExecuteCodeOptions options = {});

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  boost::asio::any_io_executor io_;
  Executor& executor_;
  const ExecuteCodeOptions options_;
  const mcp::ToolDefinition definition_;
};

}  // namespace glovebox

#pragma once

#include <cstddef>
#include <string>

#include <boost/json/object.hpp>

#include "executor/executor.h"
#include "mcp/tool_registry.h"
#include "policy/profile_offer.h"
#include "tools/profile_table.h"
#include "tools/run_limits.h"

namespace glovebox {

enum class ReturnMode : std::uint8_t { kXml, kJson };

// The tool `run_python_code`, for clients of mcp-run-python: its arguments, and its answer as one
// block of text, in the form that server gave. What execute_code says in keys is not said here.
//
// Runs with the profile `full` where that is enabled, because its clients know no profiles, and
// with the default one elsewhere.
class RunPythonCodeTool final : public mcp::Tool {
 public:
  // `executor` must outlive every call.
  RunPythonCodeTool(Executor& executor, RunLimits limits, policy::ProfileOffer offer,
                    ReturnMode mode);

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  Executor& executor_;
  const RunLimits limits_;
  const ProfileTable profiles_;
  const ReturnMode mode_;
  const mcp::ToolDefinition definition_;
};

// An outcome in that form. `request` is what was run.
std::string RunPythonCodeAnswer(const Outcome& outcome, const ExecutionRequest& request,
                                ReturnMode mode);

}  // namespace glovebox

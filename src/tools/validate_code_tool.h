#pragma once

#include <cstddef>

#include <boost/json/object.hpp>

#include "executor/executor.h"
#include "mcp/tool_registry.h"

namespace glovebox {

// The tool `validate_code`: whether code would compile, without running it. The compiler is that of
// the box and works in a box.
//
// Both shapes that clients of this tool know, in one document: flat (`valid`, `message`,
// `warnings`, or `error`, `line`, `offset`, `text`) and nested (`validation`, `analysis`,
// `recommendations`). Code that does not compile is a normal result; a box that cannot be built is
// an error of ours.
class ValidateCodeTool final : public mcp::Tool {
 public:
  // `executor` must outlive every call.
  ValidateCodeTool(Executor& executor, std::size_t code_chars_max);

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  Executor& executor_;
  const std::size_t code_chars_max_;
  const mcp::ToolDefinition definition_;
};

}  // namespace glovebox

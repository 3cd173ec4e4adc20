#pragma once

#include <cstddef>

#include <boost/json/object.hpp>

#include "executor/executor.h"
#include "mcp/tool_registry.h"

namespace glovebox {

// The tool `validate_code`: whether code would compile and be allowed, without running it. Compiler
// and language layer are those of a box and work in one. Code that does not pass is a normal result
// (tools/validation_json.h); a box that cannot be built is an error of ours.
class ValidateCodeTool final : public mcp::Tool {
 public:
  // `executor` must outlive every call.
  ValidateCodeTool(Executor& executor, std::size_t code_chars_max,
                   wire::LanguagePolicy language = {});

  const mcp::ToolDefinition& definition() const override { return definition_; }
  void Call(const boost::json::object& arguments, mcp::ToolResponder responder) override;

 private:
  Executor& executor_;
  const std::size_t code_chars_max_;
  const wire::LanguagePolicy language_;
  const mcp::ToolDefinition definition_;
};

}  // namespace glovebox

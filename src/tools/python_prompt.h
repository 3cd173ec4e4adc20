#pragma once

#include "mcp/prompt_registry.h"

namespace glovebox {

// The prompt `solve_with_python`: a person hands over a task, and optionally data, in the form in
// which models use the tools best.
void AddPythonPrompt(mcp::PromptRegistry& prompts);

}  // namespace glovebox

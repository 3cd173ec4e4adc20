#include "tools/python_prompt.h"

#include <string>
#include <string_view>
#include <utility>

#include "tools/schema.h"

namespace glovebox {
namespace {

constexpr std::string_view kHowToWork = R"(
Work like this:
- Write Python and run it with the execute_code tool; do not guess what it would give.
- Every call is a fresh box: send complete programs, with the data they need in them.
- Before you use a package outside the standard library, look it up with get_sandbox_info.
- Print or return what you need to see. When a run fails, read `error` and `traceback`, mend, and
  run again.
- Check the result in another way before you answer.
Answer with the result, how it was checked, and the program that made it.
)";

}  // namespace

void AddPythonPrompt(mcp::PromptRegistry& prompts) {
  mcp::PromptDefinition definition;
  definition.name = "solve_with_python";
  definition.title = "Solve with Python";
  definition.description = "Solves a task by writing Python and running it in the sandbox.";
  definition.arguments = {{"task", "What is to be found out or made.", true},
                          {"data", "Text the program is to work on, such as CSV or JSON.", false}};
  definition.icons = ToolIcons();
  prompts.Add(std::move(definition), [](const mcp::PromptRegistry::Arguments& arguments,
                                        const auto& responder) {
    std::string text = "Task: " + arguments.at("task") + "\n";
    if (const auto data = arguments.find("data"); data != arguments.end()) {
      text += "\nData:\n" + data->second + "\n";
    }
    mcp::GetPromptResult result;
    result.description = "A task to be solved with Python.";
    result.messages.push_back({mcp::Role::kUser, mcp::Text(text + std::string(kHowToWork))});
    responder.Reply(result);
  });
}

}  // namespace glovebox

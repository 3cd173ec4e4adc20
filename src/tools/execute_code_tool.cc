#include "tools/execute_code_tool.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "executor/execution_id.h"
#include "mcp/json_writer.h"
#include "tools/execute_code_arguments.h"
#include "tools/outcome_json.h"
#include "tools/output_progress.h"

namespace glovebox {
namespace {

namespace json = boost::json;

mcp::CallToolResult ToResult(json::object document) {
  mcp::CallToolResult result;
  result.content.push_back(mcp::Text(mcp::WriteJson(document)));
  result.structured_content = std::move(document);
  return result;
}

mcp::CallToolResult ToResult(const Error& error) {
  mcp::CallToolResult result;
  result.content.push_back(mcp::Text(error.message()));
  result.is_error = true;
  return result;
}

// Code that no box is needed for to know that it will not run.
mcp::CallToolResult NotRun(std::string_view error) {
  json::object document;
  document["success"] = false;
  document["status"] = StatusName(ExecutionStatus::kFailed);
  document["error"] = error;
  document["execution_id"] = NewExecutionId();
  return ToResult(std::move(document));
}

bool IsBlank(std::string_view code) {
  return code.find_first_not_of(" \t\n\r\f\v") == std::string_view::npos;
}

// One execution on behalf of one call. Lives as long as the executor may call back.
class Run final : public ExecutionObserver, public std::enable_shared_from_this<Run> {
 public:
  Run(ExecuteCodeArguments arguments, mcp::ToolResponder responder)
      : arguments_(std::move(arguments)), responder_(std::move(responder)) {}

  void Start(Executor& executor, const boost::asio::any_io_executor& io) {
    if (arguments_.capture_output && responder_.wants_progress()) {
      progress_ = std::make_shared<OutputProgress>(io, responder_);
    }
    // The executor keeps this object until it has called back: `self` is in its handler.
    const std::shared_ptr<Execution> execution = executor.Start(
        arguments_.request, this,
        [self = shared_from_this()](Outcome outcome) { self->Finish(std::move(outcome)); });
    responder_.OnCancel([execution] { execution->Cancel(); });
  }

  void OnStdout(std::string_view bytes) override {
    if (progress_) progress_->Add(bytes);
  }

 private:
  void Finish(Outcome outcome) {
    if (progress_) progress_->Finish();
    if (!arguments_.capture_output) {
      outcome.stdout_stream = {};
      outcome.stderr_stream = {};
      outcome.value_repr.clear();
    }
    responder_.Reply(ToResult(OutcomeToJson(outcome, arguments_.request)));
  }

  const ExecuteCodeArguments arguments_;
  const mcp::ToolResponder responder_;
  std::shared_ptr<OutputProgress> progress_;  // null when nobody wants it
};

}  // namespace

ExecuteCodeTool::ExecuteCodeTool(boost::asio::any_io_executor io, Executor& executor,
                                 ExecuteCodeOptions options)
    : io_(std::move(io)),
      executor_(executor),
      options_(options),
      definition_(ExecuteCodeDefinition(options)) {}

void ExecuteCodeTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  auto parsed = ReadExecuteCodeArguments(arguments, options_);
  if (!parsed) return responder.Reply(ToResult(parsed.error()));
  const std::string& code = parsed->request.code;
  if (IsBlank(code)) return responder.Reply(NotRun("Empty code provided"));
  if (CountCodePoints(code) > options_.code_chars_max) {
    return responder.Reply(
        NotRun("Code too large (max " + std::to_string(options_.code_chars_max / 1000) + "KB)"));
  }
  std::make_shared<Run>(std::move(parsed).value(), std::move(responder))->Start(executor_, io_);
}

}  // namespace glovebox

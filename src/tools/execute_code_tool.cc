#include "tools/execute_code_tool.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "executor/execution_id.h"
#include "tools/arguments.h"
#include "tools/execute_code_arguments.h"
#include "tools/outcome_json.h"
#include "tools/output_progress.h"
#include "tools/tool_result.h"

namespace glovebox {
namespace {

namespace json = boost::json;

// Code that no box is needed for to know that it will not run.
mcp::CallToolResult NotRun(std::string_view error,
                           ExecutionStatus status = ExecutionStatus::kFailed) {
  json::object document;
  document["success"] = false;
  document["status"] = StatusName(status);
  document["error"] = error;
  document["execution_id"] = NewExecutionId();
  return ToToolResult(std::move(document));
}

bool IsBlank(std::string_view code) {
  return code.find_first_not_of(" \t\n\r\f\v") == std::string_view::npos;
}

// One execution on behalf of one call. Lives as long as the executor may call back.
class Run final : public ExecutionObserver, public std::enable_shared_from_this<Run> {
 public:
  Run(const boost::asio::any_io_executor& io, ExecuteCodeArguments arguments,
      mcp::ToolResponder responder)
      : arguments_(std::move(arguments)), responder_(std::move(responder)), timer_(io) {}

  void Start(Executor& executor, std::chrono::milliseconds task_after) {
    WatchOutput();
    // The executor keeps this object until it has called back: `self` is in its handler.
    execution_ = executor.Start(
        arguments_.request, this,
        [self = shared_from_this()](Outcome outcome) { self->Finish(std::move(outcome)); });
    KillOnCancel();
    if (!responder_.context().capabilities.tasks) return;
    timer_.expires_after(task_after);
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (!error && self && !self->finished_) self->GoOnAsTask();
    });
  }

  void OnStdout(std::string_view bytes) override {
    if (progress_) progress_->Add(bytes);
  }

 private:
  void WatchOutput() {
    if (!arguments_.capture_output || !responder_.wants_progress()) return;
    progress_ = std::make_shared<OutputProgress>(timer_.get_executor(), responder_);
  }

  void KillOnCancel() {
    responder_.OnCancel([execution = execution_] { execution->Cancel(); });
  }

  void GoOnAsTask() {
    responder_ = responder_.ContinueAsTask();
    if (progress_) {
      progress_->ContinueOn(responder_);
    } else {
      WatchOutput();  // of a task everybody can ask how it is getting on
    }
    KillOnCancel();
  }

  void Finish(Outcome outcome) {
    finished_ = true;
    timer_.cancel();
    if (progress_) progress_->Finish();
    if (!arguments_.capture_output) {
      outcome.stdout_stream = {};
      outcome.stderr_stream = {};
      outcome.value_repr.clear();
    }
    responder_.Reply(ToToolResult(OutcomeToJson(outcome, arguments_.request)));
  }

  const ExecuteCodeArguments arguments_;
  mcp::ToolResponder responder_;
  boost::asio::steady_timer timer_;  // until the run goes on as a task
  std::shared_ptr<Execution> execution_;
  bool finished_ = false;
  std::shared_ptr<OutputProgress> progress_;  // null when nobody wants it
};

}  // namespace

ExecuteCodeTool::ExecuteCodeTool(boost::asio::any_io_executor io, Executor& executor,
                                 ExecuteCodeOptions options)
    : io_(std::move(io)),
      executor_(executor),
      options_(std::move(options)),
      profiles_(options_.offer),
      definition_(ExecuteCodeDefinition(options_.limits, options_.offer)) {}

void ExecuteCodeTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  auto parsed = ReadExecuteCodeArguments(arguments, options_.limits, profiles_);
  if (!parsed && parsed.error().code() == Errc::kUnsupported) {
    return responder.Reply(NotRun(parsed.error().message(), ExecutionStatus::kSetupFailed));
  }
  if (!parsed) return responder.Reply(ToToolResult(parsed.error()));
  const std::string& code = parsed->request.code;
  if (IsBlank(code)) return responder.Reply(NotRun("Empty code provided"));
  if (const auto refusal = TooLarge(code, options_.limits.code_chars_max)) {
    return responder.Reply(NotRun(*refusal));
  }
  parsed->request.caller = responder.context().principal;
  std::make_shared<Run>(io_, std::move(parsed).value(), std::move(responder))
      ->Start(executor_, options_.task_after);
}

}  // namespace glovebox

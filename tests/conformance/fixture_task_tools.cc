#include <chrono>
#include <string>
#include <utility>

#include "fixture.h"

namespace glovebox::conformance {
namespace {

namespace json = boost::json;
using mcp::CallToolResult;
using mcp::InputResponses;
using mcp::TaskSupport;
using mcp::ToolResponder;

constexpr double kSecondsMax = 3600;
constexpr std::chrono::milliseconds kShortJob{1000};

mcp::ToolDefinition DefineJob(TaskSupport support, std::string name, std::string description,
                              json::object properties = {},
                              std::initializer_list<std::string_view> required = {}) {
  mcp::ToolDefinition tool =
      Define(std::move(name), std::move(description), std::move(properties), required);
  tool.tasks = support;
  return tool;
}

Result<double> SecondsArgument(const json::object& arguments) {
  const json::value* value = arguments.if_contains("seconds");
  double seconds = -1;
  if (value != nullptr && value->is_number()) seconds = value->to_number<double>();
  if (!(seconds >= 0 && seconds <= kSecondsMax)) {
    return Error(Errc::kInvalidArgument,
                 "The argument 'seconds' must be given, as a number from 0 to 3600");
  }
  return seconds;
}

void SlowCompute(const boost::asio::any_io_executor& executor, const json::object& arguments,
                 const ToolResponder& responder) {
  const auto seconds = SecondsArgument(arguments);
  const auto label = StringArgument(arguments, "label");
  if (!seconds) return responder.Reply(ErrorResult(seconds.error().message()));
  CallToolResult result = TextResult("Computed" + (label ? " " + *label : "") + " for " +
                                     std::to_string(*seconds) + " seconds.");
  if (*seconds == 0) return responder.Reply(std::move(result));
  const ToolResponder task = responder.ContinueAsTask();
  After(executor, std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000)), task,
        [task, result = std::move(result)] { task.Reply(result); });
}

void AddJobs(mcp::Server& server) {
  const boost::asio::any_io_executor executor = server.executor();
  server.tools().Add(
      Define("greet", "Greets at once.", {{"name", Property("string", "Whom to greet")}}, {"name"}),
      [](const json::object& arguments, const ToolResponder& responder) {
        const auto name = StringArgument(arguments, "name");
        responder.Reply(name ? TextResult("Hello, " + *name + "!")
                             : ErrorResult(name.error().message()));
      });
  server.tools().Add(DefineJob(TaskSupport::kOptional, "slow_compute", "Takes its time.",
                               {{"seconds", Property("number", "How long, in seconds")},
                                {"label", Property("string", "Comes back in the result")}},
                               {"seconds"}),
                     [executor](const json::object& arguments, const ToolResponder& responder) {
                       SlowCompute(executor, arguments, responder);
                     });
  server.tools().Add(
      DefineJob(TaskSupport::kRequired, "failing_job", "Fails after a second, as tools do."),
      [executor](const json::object&, const ToolResponder& responder) {
        const ToolResponder task = responder.ContinueAsTask();
        After(executor, kShortJob, task,
              [task] { task.Reply(ErrorResult("The job failed, as it always does.")); });
      });
  server.tools().Add(
      DefineJob(TaskSupport::kOptional, "protocol_error_job", "Breaks, as servers do."),
      [executor](const json::object&, const ToolResponder& responder) {
        const ToolResponder task = responder.ContinueAsTask();
        After(executor, kShortJob, task, [task] {
          task.Fail(mcp::RpcError{mcp::kInternalError, "The job broke, as it always does."});
        });
      });
}

// Tasks that stop to ask, and one that asks before it becomes a task.
void AddAskingJobs(mcp::Server& server) {
  server.tools().Add(
      DefineJob(TaskSupport::kOptional, "confirm_delete", "Asks before it deletes nothing.",
                {{"filename", Property("string", "What would be deleted")}}, {"filename"}),
      [](const json::object& arguments, const ToolResponder& responder) {
        const auto file = StringArgument(arguments, "filename");
        if (!file) return responder.Reply(ErrorResult(file.error().message()));
        mcp::InputRequired question = {
            {{"confirm", Form("Delete " + *file + "?",
                              {{"confirm", Property("boolean", "Whether to delete it")}})}},
            ""};
        AskThen<CallToolResult>(
            responder.ContinueAsTask(), std::move(question), [&file](const InputResponses& inputs) {
              const json::object* content = inputs.Accepted("confirm");
              const json::value* confirm =
                  content != nullptr ? content->if_contains("confirm") : nullptr;
              const bool confirmed = confirm != nullptr && *confirm == true;
              return TextResult((confirmed ? "Deleted " : "Kept ") + *file + ".");
            });
      });
  server.tools().Add(
      DefineJob(TaskSupport::kOptional, "multi_input", "Asks two questions at once."),
      [](const json::object&, const ToolResponder& responder) {
        mcp::InputRequired questions = {
            {{"first_name", Form("First name?", {{"name", Property("string", "First name")}})},
             {"last_name", Form("Last name?", {{"name", Property("string", "Last name")}})}},
            ""};
        AskThen<CallToolResult>(
            responder.ContinueAsTask(), std::move(questions), [](const InputResponses& inputs) {
              return TextResult("Hello, " + FormText(inputs, "first_name", "name") + " " +
                                FormText(inputs, "last_name", "name") + "!");
            });
      });
  const boost::asio::any_io_executor executor = server.executor();
  server.tools().Add(
      DefineJob(TaskSupport::kRequired, "test_tool_with_task", "Asks a name, then works on it."),
      [executor](const json::object&, const ToolResponder& responder) {
        const std::string name = FormText(responder.context().inputs, "user_name", "name");
        if (name.empty()) {
          return responder.NeedInput(
              {{{"user_name", Form("What is your name?", {{"name", Property("string", "Name")}})}},
               ""});
        }
        const ToolResponder task = responder.ContinueAsTask();
        After(executor, kShortJob, task,
              [task, name] { task.Reply(TextResult("Done for " + name + ".")); });
      });
}

}  // namespace

void AddTaskTools(mcp::Server& server) {
  AddJobs(server);
  AddAskingJobs(server);
}

}  // namespace glovebox::conformance

#include "app/exec_command.h"

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/command_profile.h"
#include "app/stdio_relay.h"
#include "app/zygote_path.h"
#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "executor/local_executor.h"
#include "mcp/json_writer.h"
#include "tools/outcome_json.h"

namespace glovebox {
namespace {

// The exit codes of `glovebox exec`; n of sys.exit(n) and 128+s of a signal lie between them.
constexpr int kExitUsage = 2;
constexpr int kExitTimedOut = 124;
constexpr int kExitOurFailure = 125;
constexpr int kExitViolated = 126;
constexpr int kExitCancelled = 130;
constexpr int kExitLimit = 137;

constexpr double kTimeoutSecondsMax = 24 * 3600;

struct ExecOptions {
  std::string file;
  std::optional<std::string> code;
  std::vector<std::string> arguments;
  bool json = false;
  std::string profile = "full";
  double timeout_seconds = 30;
  std::optional<std::string> memory;  // none: the profile's
  bool allow_degraded = false;
  std::string cgroup_parent;
};

int Complain(int exit_code, const std::string& sentence) {
  std::fprintf(stderr, "glovebox: %s\n", sentence.c_str());
  return exit_code;
}

// Output reaches the terminal as it is written.
class PassThrough final : public ExecutionObserver {
 public:
  PassThrough(OutputRelay& out, OutputRelay& err) : out_(out), err_(err) {}
  void OnStdout(std::string_view bytes) override { out_.Write(bytes); }
  void OnStderr(std::string_view bytes) override { err_.Write(bytes); }

 private:
  OutputRelay& out_;
  OutputRelay& err_;
};

std::string ReadStdin() {
  return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
}

bool CodeIsOnStdin(const ExecOptions& options) {
  return !options.code && (options.file == "-" || options.file.empty());
}

Result<ExecutionRequest> MakeRequest(const ExecOptions& options) {
  ExecutionRequest request;
  request.arguments = options.arguments;
  if (options.code) {
    request.code = *options.code;
    request.argv0 = "-c";
  } else if (CodeIsOnStdin(options)) {
    request.code = ReadStdin();
    request.argv0 = "-";
  } else {
    std::optional<std::string> text = ReadFile(options.file);
    if (!text) return Error::FromErrno("reading " + options.file, errno);
    request.code = std::move(*text);
    request.filename = request.argv0 = options.file;
  }
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= kTimeoutSecondsMax)) {
    return Error(Errc::kInvalidArgument, "--timeout takes seconds above 0 and up to 86400");
  }
  request.limits.wall_ms_max =
      static_cast<std::uint32_t>(std::ceil(options.timeout_seconds * 1000));
  CommandProfile profile = TRY(ChooseCommandProfile(options.profile));
  request.language = std::move(profile.language);
  request.limits.memory_bytes_max = profile.choice.memory_bytes;
  if (!options.memory) return request;
  Result<std::uint64_t> memory = ParseSize(*options.memory);
  if (!memory) return Error(Errc::kInvalidArgument, "--memory takes " + memory.error().message());
  if (*memory < (4u << 20)) {
    return Error(Errc::kInvalidArgument, "--memory: a box needs at least 4m");
  }
  request.limits.memory_bytes_max = *memory;
  return request;
}

int ExitCodeOf(const Outcome& outcome) {
  switch (outcome.status) {
    case ExecutionStatus::kCompleted: return 0;
    case ExecutionStatus::kFailed:
      if (outcome.signal) return 128 + *outcome.signal;
      return outcome.exit_code.value_or(1) == 0 ? 1 : outcome.exit_code.value_or(1);
    case ExecutionStatus::kTimedOut: return kExitTimedOut;
    case ExecutionStatus::kLimitExceeded: return kExitLimit;
    case ExecutionStatus::kViolated: return kExitViolated;
    case ExecutionStatus::kCancelled: return kExitCancelled;
    case ExecutionStatus::kSetupFailed: return kExitOurFailure;
  }
  return kExitOurFailure;
}

// What people see after the code's own output: the final value (of a script nobody expects one), or
// what went wrong.
void ShowEnd(const Outcome& outcome, bool is_script, OutputRelay& out, OutputRelay& err) {
  if (!outcome.value_repr.empty() && !is_script) {
    out.Write((out.at_line_start() ? "" : "\n") + outcome.value_repr + "\n");
  }
  const bool said_so_itself = outcome.status == ExecutionStatus::kFailed && !outcome.signal &&
                              outcome.message.starts_with("The code called sys.exit");
  if (outcome.error && !outcome.error->traceback.empty()) {
    err.Write(outcome.error->traceback);
  } else if (outcome.status != ExecutionStatus::kCompleted && !said_so_itself) {
    err.Write("glovebox: " + outcome.message + "\n");
  }
}

// Everything that has to live as long as the execution.
struct ExecSession {
  boost::asio::io_context context{1};
  std::unique_ptr<OutputRelay> out;
  std::unique_ptr<OutputRelay> err;
  std::unique_ptr<InputRelay> in;
  std::unique_ptr<Executor> executor;
};

Status Prepare(ExecSession& session, const ExecOptions& options, ExecutionRequest& request) {
  session.out = TRY(OutputRelay::Open(session.context, STDOUT_FILENO));
  session.err = TRY(OutputRelay::Open(session.context, STDERR_FILENO));
  if (!CodeIsOnStdin(options)) {
    session.in = TRY(InputRelay::Start(session.context, STDIN_FILENO));
    request.stdin_fd = session.in->read_end();
  }
  LocalExecutorOptions executor_options;
  executor_options.zygote_program = TRY(FindZygoteProgram());
  executor_options.boxes_max = 1;
  executor_options.allow_degraded = options.allow_degraded;
  executor_options.cgroup_parent = options.cgroup_parent;
  session.executor = TRY(CreateLocalExecutor(session.context, std::move(executor_options)));
  return {};
}

// Runs the request to its outcome, then the relays until all is written. A signal cancels the
// former and abandons the latter.
Outcome RunToTheEnd(ExecSession& session, const ExecOptions& options, ExecutionRequest request) {
  const ExecutionRequest shown = request;
  PassThrough pass_through(*session.out, *session.err);
  std::optional<Outcome> outcome;
  const std::shared_ptr<Execution> execution =
      session.executor->Start(std::move(request), options.json ? nullptr : &pass_through,
                              [&](Outcome arrived) { outcome = std::move(arrived); });
  bool interrupted = false;
  boost::asio::signal_set signals(session.context, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    interrupted = true;
    execution->Cancel();
  });
  while (!outcome) session.context.run_one();
  if (options.json) {
    session.out->Write(mcp::WriteJson(OutcomeToJson(*outcome, shown)) + "\n");
  } else {
    ShowEnd(*outcome, !options.file.empty() && options.file != "-", *session.out, *session.err);
  }
  while (!(session.out->idle() && session.err->idle()) && !interrupted) {
    session.context.run_one();
  }
  return std::move(*outcome);
}

int RunExec(const ExecOptions& options) {
  Result<ExecutionRequest> request = MakeRequest(options);
  if (!request) return Complain(kExitUsage, request.error().message());
  ExecSession session;
  if (Status prepared = Prepare(session, options, *request); !prepared) {
    return Complain(kExitOurFailure, prepared.error().message());
  }
  return ExitCodeOf(RunToTheEnd(session, options, std::move(*request)));
}

}  // namespace

void AddExecCommand(CLI::App& root, int& exit_code) {
  auto options = std::make_shared<ExecOptions>();
  CLI::App* command = root.add_subcommand("exec", "Run Python once in a fresh box");
  command->add_option("file", options->file, "A file of Python code; - or nothing reads stdin");
  command->add_option("-c", options->code, "Python code as text");
  command->add_flag("--json", options->json, "Print one JSON document instead of the output");
  command->add_option("--timeout", options->timeout_seconds, "Seconds of wall time")
      ->capture_default_str();
  command
      ->add_option("--profile", options->profile,
                   "Which Python is allowed, such as basic or basic+data_science")
      ->capture_default_str();
  command->add_option("--memory", options->memory,
                      "Memory limit, as in 64m or 1g; without it, the profile's");
  command
      ->add_flag(
          "--allow-degraded", options->allow_degraded,
          "Run where this host cannot hold a box at full strength; the result (--json) lists "
          "the missing walls")
      ->envname("SANDBOX_ALLOW_DEGRADED");
  command
      ->add_option("--cgroup-parent", options->cgroup_parent,
                   "The cgroup in which the box gets its own, such as /sys/fs/cgroup/glovebox")
      ->envname("SANDBOX_CGROUP_PARENT");
  command->add_option("arguments", options->arguments, "sys.argv[1:] (after --)");
  command->footer(
      "Exit codes: 0; 1 Python error; n sys.exit(n); 128+s own signal; 124 timed out; 137 limit;\n"
      "126 violated; 130 cancelled; 125 Glovebox failed; 2 usage.");
  command->callback([options, &exit_code] {
    // With -c, the first word after it belongs to the program, not to us.
    if (options->code && !options->file.empty()) {
      options->arguments.insert(options->arguments.begin(), options->file);
      options->file.clear();
    }
    exit_code = RunExec(*options);
  });
}

}  // namespace glovebox

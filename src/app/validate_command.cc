#include "app/validate_command.h"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "app/command_profile.h"
#include "app/zygote_path.h"
#include "base/file.h"
#include "base/result.h"
#include "executor/local_executor.h"
#include "mcp/json_writer.h"
#include "tools/validation_json.h"

namespace glovebox {
namespace {

constexpr int kExitInvalid = 1;
constexpr int kExitUsage = 2;
constexpr int kExitOurFailure = 125;

struct ValidateOptions {
  std::string file;
  std::optional<std::string> code;
  bool json = false;
  std::string profile = "basic";
  std::vector<std::string> allowed_imports;
};

int Complain(int exit_code, const std::string& sentence) {
  std::fprintf(stderr, "glovebox: %s\n", sentence.c_str());
  return exit_code;
}

Result<std::string> ReadCode(const ValidateOptions& options) {
  if (options.code) return *options.code;
  if (options.file.empty() || options.file == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  }
  std::optional<std::string> text = ReadFile(options.file);
  if (!text) return Error::FromErrno("reading " + options.file, errno);
  return std::move(*text);
}

std::string_view LineOf(std::string_view code, int number) {
  for (; number > 1 && !code.empty(); --number) {
    const std::size_t end = code.find('\n');
    code.remove_prefix(end == std::string_view::npos ? code.size() : end + 1);
  }
  return code.substr(0, code.find('\n'));
}

// The line in question and the mark below it, set in.
void ShowPlace(std::string_view line, int column) {
  std::string rest = CaretText(line, column);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::printf("    %s\n", rest.substr(0, end).c_str());
    rest.erase(0, end == std::string::npos ? rest.size() : end + 1);
  }
}

void ShowError(const std::string& name, const std::string& code, const Outcome& outcome) {
  const PythonError& error = *outcome.error;
  const int line = error.line > 0 ? error.line : 1;
  std::printf("%s:%d:%d: %s: %s\n", name.c_str(), line, error.offset > 0 ? error.offset : 1,
              error.type.c_str(), error.message.c_str());
  if (error.offset > 0) ShowPlace(LineOf(code, line), error.offset);
}

void ShowFinding(const std::string& name, const std::string& code, const wire::Finding& finding) {
  std::printf("%s:%d:%d: %s [%s]\n", name.c_str(), finding.line, finding.column,
              finding.what.c_str(), finding.rule.c_str());
  ShowPlace(LineOf(code, finding.line), finding.column);
  std::printf("    why:     %s\n    instead: %s\n", finding.why.c_str(), finding.instead.c_str());
}

bool IsValid(const Outcome& outcome) {
  return outcome.status == ExecutionStatus::kCompleted && outcome.findings.empty();
}

void Show(const std::string& name, const std::string& code, const Outcome& outcome) {
  if (outcome.error) {
    ShowError(name, code, outcome);
  } else if (outcome.status != ExecutionStatus::kCompleted) {
    std::printf("%s: %s\n", name.c_str(), outcome.message.c_str());
  }
  for (const wire::Finding& finding : outcome.findings) ShowFinding(name, code, finding);
  if (IsValid(outcome)) {
    std::printf("%s: valid\n", name.c_str());
  } else if (!outcome.findings.empty()) {
    std::printf("%zu finding%s\n", outcome.findings.size(),
                outcome.findings.size() == 1 ? "" : "s");
  }
}

Result<Outcome> Validate(ExecutionRequest request) {
  boost::asio::io_context context{1};
  LocalExecutorOptions options;
  options.zygote_program = TRY(FindZygoteProgram());
  options.boxes_max = 1;
  const std::unique_ptr<Executor> executor = TRY(CreateLocalExecutor(context, std::move(options)));
  std::optional<Outcome> outcome;
  const std::shared_ptr<Execution> execution = executor->Start(
      std::move(request), nullptr, [&](Outcome arrived) { outcome = std::move(arrived); });
  while (!outcome) context.run_one();
  if (outcome->status == ExecutionStatus::kSetupFailed) {
    return Error(Errc::kInternal, outcome->message);
  }
  return std::move(*outcome);
}

int RunValidate(const ValidateOptions& options) {
  const Result<std::string> code = ReadCode(options);
  if (!code) return Complain(kExitUsage, code.error().message());
  Result<CommandProfile> profile = ChooseCommandProfile(options.profile);
  if (!profile) return Complain(kExitUsage, profile.error().message());
  ExecutionRequest request;
  request.action = wire::RunAction::kValidate;
  request.code = *code;
  request.language = std::move(profile->language);
  for (const std::string& name : options.allowed_imports) request.language.modules.Add(name);
  const Result<Outcome> outcome = Validate(std::move(request));
  if (!outcome) return Complain(kExitOurFailure, outcome.error().message());
  if (options.json) {
    std::printf("%s\n", mcp::WriteJson(ValidationToJson(*code, *outcome)).c_str());
  } else {
    const bool from_file = !options.code && !options.file.empty() && options.file != "-";
    Show(from_file ? options.file : "<code>", *code, *outcome);
  }
  return IsValid(*outcome) ? 0 : kExitInvalid;
}

}  // namespace

void AddValidateCommand(CLI::App& root, int& exit_code) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      root.add_subcommand("validate", "Check Python against a profile, without running it");
  command->add_option("file", options->file, "A file of Python code; - or nothing reads stdin");
  command->add_option("-c", options->code, "Python code as text");
  command->add_flag("--json", options->json, "Print one JSON document, as validate_code does");
  command->add_option("--profile", options->profile, "The profile to check against")
      ->capture_default_str();
  command->add_option("--allow-import", options->allowed_imports,
                      "A module to allow besides the profile's; may be given again");
  command->footer("Exit codes: 0 valid; 1 not valid; 2 usage; 125 Glovebox failed.");
  command->callback([options, &exit_code] { exit_code = RunValidate(*options); });
}

}  // namespace glovebox

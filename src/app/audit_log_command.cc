#include "app/audit_log_command.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/audit_log.h"

namespace glovebox {
namespace {

int Verify(const std::vector<std::string>& files) {
  const Result<AuditVerdict> verdict = VerifyAuditLog(files);
  if (!verdict) {
    std::fprintf(stderr, "glovebox: %s\n", verdict.error().message().c_str());
    return 2;
  }
  for (const std::string& problem : verdict->problems) std::printf("%s\n", problem.c_str());
  std::printf("%llu records", static_cast<unsigned long long>(verdict->lines));
  if (verdict->lines > 0) {
    std::printf(", %llu to %llu, the last one's hash %s",
                static_cast<unsigned long long>(verdict->first_sequence),
                static_cast<unsigned long long>(verdict->last_sequence),
                verdict->last_hash.c_str());
  }
  std::printf("; %s\n", verdict->problems.empty() ? "the chain is whole" : "THE CHAIN IS BROKEN");
  return verdict->problems.empty() ? 0 : 1;
}

}  // namespace

void AddAuditLogCommand(CLI::App& root, int& exit_code) {
  CLI::App* command = root.add_subcommand("audit-log", "What was executed for whom");
  command->require_subcommand(1);
  CLI::App* verify = command->add_subcommand(
      "verify", "Check that no line of an audit log was changed or removed");
  const auto files = std::make_shared<std::vector<std::string>>();
  verify->add_option("files", *files, "The log and the files put aside, in any order")->required();
  verify->footer(
      "Lines cut from the end can only be found by comparing the last hash with one noted before.");
  verify->callback([files, &exit_code] { exit_code = Verify(*files); });
}

}  // namespace glovebox

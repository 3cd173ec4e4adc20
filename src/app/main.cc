#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <CLI/CLI.hpp>

#include "app/audit_command.h"
#include "app/audit_log_command.h"
#include "app/doctor_command.h"
#include "app/exec_command.h"
#include "app/policy_command.h"
#include "app/run_command.h"
#include "app/serve_command.h"
#include "app/validate_command.h"
#include "audit/victim.h"

namespace {

// A closed 0, 1 or 2 would be the number of the next file we open, and output would land in it.
void FillStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR | O_CLOEXEC) != fd) std::abort();
  }
}

struct Command {
  std::string_view name;
  void (*add)(CLI::App& root, int& exit_code);
};

constexpr Command kCommands[] = {
    {"serve", &glovebox::AddServeCommand},       {"exec", &glovebox::AddExecCommand},
    {"run", &glovebox::AddRunCommand},           {"policy", &glovebox::AddPolicyCommand},
    {"validate", &glovebox::AddValidateCommand}, {"doctor", &glovebox::AddDoctorCommand},
    {"audit", &glovebox::AddAuditCommand},       {"audit-log", &glovebox::AddAuditLogCommand},
};

// The one that is asked for, or all of them, to be listed: making the options of all is a sixth of
// what a short command takes to start. False if there is no such command.
bool AddCommands(CLI::App& app, std::string_view asked, int& exit_code) {
  const bool all = asked.empty() || asked.front() == '-';
  bool found = all;
  for (const Command& command : kCommands) {
    if (!all && command.name != asked) continue;
    command.add(app, exit_code);
    found = true;
  }
  return found;
}

int Run(int argc, char** argv) {
  // A reader that goes away is an error code of write(2), not the end of the server.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Runs untrusted Python, for people and for AI agents, in boxes that hold.");
  app.name("glovebox");
  app.set_version_flag("--version", "glovebox " GLOVEBOX_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  if (!AddCommands(app, argc > 1 ? argv[1] : "", exit_code)) {
    std::fprintf(stderr, "glovebox: there is no command '%s'; `glovebox --help` lists them\n",
                 argv[1]);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // A process for probes of the audit to aim at: it sleeps.
  if (glovebox::audit::IsVictim(argc, argv)) return glovebox::audit::VictimMain(argv);
  FillStandardDescriptors();
  try {
    return Run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "glovebox: %s\n", exception.what());
    return 125;  // Glovebox failed, as `exec` says it
  }
}

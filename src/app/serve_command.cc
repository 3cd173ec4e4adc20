#include "app/serve_command.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>

#include <CLI/CLI.hpp>

#include "app/configuration.h"
#include "app/configuration_documents.h"
#include "app/configuration_flags.h"
#include "app/log.h"
#include "app/serve_http.h"
#include "app/serve_stdio.h"
#include "base/result.h"

namespace glovebox {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

Result<Configuration> ReadConfiguration(const ConfigurationFlags& flags) {
  return Configure(TRY(ReadSources(flags.settings, flags.config_file, flags.environment_file)));
}

Status Run(const Configuration& configuration, const Log& log) {
  // A client that is gone is an error of write(), not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return configuration.settings.transport == "http" ? ServeHttp(configuration, log)
                                                      : ServeStdio(configuration, log);
  } catch (const std::exception& exception) {  // Asio's and the standard library's, at their root
    return Error(Errc::kInternal, exception.what());
  }
}

int Serve(const ConfigurationFlags& flags) {
  const auto configuration = ReadConfiguration(flags);
  if (!configuration) {
    Log("error").Error(configuration.error().message());
    return kExitUsage;
  }
  const Log log(configuration->settings.log_level);
  for (const std::string& warning : configuration->warnings) log.Warn(warning);
  if (flags.print_config) {
    std::fputs(EffectiveConfiguration(*configuration).c_str(), stdout);
    return 0;
  }
  const Status status = Run(*configuration, log);
  if (status.ok()) return 0;
  log.Error(status.error().message());
  return kExitFailed;
}

}  // namespace

void AddServeCommand(CLI::App& root, int& exit_code) {
  CLI::App* command = root.add_subcommand("serve", "Serve MCP clients: Python in sealed boxes");
  const auto flags = std::make_shared<ConfigurationFlags>();
  AddConfigurationFlags(*command, *flags);
  command->footer(
      "Settings come from flags, SANDBOX_* variables, .env, a TOML file and defaults,\n"
      "in this order: docs/configuration.md.");
  command->callback([flags, &exit_code] { exit_code = Serve(*flags); });
}

}  // namespace glovebox

#include "app/configuration_flags.h"

#include <CLI/CLI.hpp>

#include "app/configuration.h"
#include "app/setting_table.h"

namespace glovebox {

void AddConfigurationFlags(CLI::App& command, ConfigurationFlags& flags) {
  for (const Setting& setting : SettingTable()) {
    if (setting.secret) continue;
    const std::string name(setting.name);
    const std::string description = std::string(setting.description) + " [" +
                                    std::string(setting.variables.front()) + "; " + setting.Rule() +
                                    "]";
    command
        .add_option_function<std::string>(
            "--" + name, [&flags, name](const std::string& text) { flags.settings[name] = text; },
            description)
        ->type_name("VALUE")
        ->default_str(std::string(setting.default_text))
        ->group(setting.section().empty() ? "General" : std::string(setting.section()));
  }
  command
      .add_option("--config", flags.config_file,
                  "A TOML file of settings, instead of " + std::string(kDefaultConfigFile) +
                      "; '' reads none")
      ->type_name("FILE")
      ->group("Sources");
  command
      .add_option("--env-file", flags.environment_file,
                  "A file of SANDBOX_* variables, instead of .env in the current folder; '' reads "
                  "none")
      ->type_name("FILE")
      ->group("Sources");
  command
      .add_flag("--print-config", flags.print_config,
                "Print every setting in force and where it came from, and end")
      ->group("Sources");
}

}  // namespace glovebox

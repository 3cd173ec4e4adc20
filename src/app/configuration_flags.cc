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
    const bool is_switch = setting.is_switch();
    // What the bare flag would otherwise be taken for.
    const std::string shown_default = is_switch ? "" : std::string(setting.default_text);
    command
        .add_option_function<std::string>(
            "--" + name,
            [&flags, name, is_switch](const std::string& text) {
              flags.settings[name] = is_switch && text.empty() ? "true" : text;
            },
            description)
        ->type_name("VALUE")
        ->expected(is_switch ? 0 : 1, 1)
        ->default_str(shown_default)
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

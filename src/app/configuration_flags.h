#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <CLI/App.hpp>

namespace glovebox {

// What the command line said about settings; values as they were typed.
struct ConfigurationFlags {
  std::map<std::string, std::string> settings;  // by Setting::name
  std::optional<std::string> config_file;
  std::optional<std::string> environment_file;
  bool print_config = false;
};

// Adds a flag per setting to `command`, and --config, --env-file, --print-config. `flags` must
// outlive the parsing.
void AddConfigurationFlags(CLI::App& command, ConfigurationFlags& flags);

}  // namespace glovebox

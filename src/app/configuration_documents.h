#pragma once

#include <string>

#include "app/configuration.h"

namespace glovebox {

// What people read about the settings, made from the table (setting_table.h). A test compares the
// first two with the files in the source tree; `make config-docs` writes them.
std::string EnvironmentExample();   // .env.example
std::string ConfigurationManual();  // docs/configuration.md

// `glovebox serve --print-config`: a TOML file with every setting as it is in force, and where it
// came from. A secret that is set shows as a comment without its value.
std::string EffectiveConfiguration(const Configuration& configuration);

}  // namespace glovebox

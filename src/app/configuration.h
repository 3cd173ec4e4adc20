#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/serve_settings.h"
#include "base/result.h"

namespace glovebox {

inline constexpr std::string_view kDefaultConfigFile = "/etc/glovebox/glovebox.toml";
inline constexpr std::string_view kDefaultEnvironmentFile = ".env";

// The text of a file and what messages call it.
struct NamedText {
  std::string name;
  std::string text;
  bool readable_by_all = false;  // every user of this machine may read it
};

// Where settings may come from, strongest first.
struct ConfigurationSources {
  std::map<std::string, std::string> flags;                      // by Setting::name
  std::vector<std::pair<std::string, std::string>> environment;  // of this process
  std::optional<NamedText> environment_file;                     // `.env`
  std::optional<NamedText> config_file;                          // TOML
};

struct Configuration {
  ServeSettings settings;
  std::map<std::string, std::string, std::less<>> origins;  // by Setting::name; absent: default
  std::vector<std::string> warnings;                        // sentences for standard error

  bool given(std::string_view name) const { return origins.find(name) != origins.end(); }
};

// Settles every setting: a flag over the environment over `.env` over the TOML file over the
// default. An empty variable counts as unset. kInvalidArgument is one sentence with the name, where
// it came from, the value (unless secret) and the rule; an unknown key of the TOML file is one as
// well. An unknown SANDBOX_* variable is a warning: the environment belongs to others, too.
Result<Configuration> Configure(const ConfigurationSources& sources);

// The environment of this process, and the two files: `config_file` if given, else
// kDefaultConfigFile; `environment_file` if given, else kDefaultEnvironmentFile. A file that was
// asked for must be there; the empty name means none. The error names the file.
Result<ConfigurationSources> ReadSources(std::map<std::string, std::string> flags,
                                         const std::optional<std::string>& config_file,
                                         const std::optional<std::string>& environment_file);

}  // namespace glovebox

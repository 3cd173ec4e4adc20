#include "app/configuration_documents.h"

#include <string_view>
#include <utility>

#include "app/setting_table.h"
#include "base/text.h"

namespace glovebox {
namespace {

std::string Heading(std::string_view section) {
  if (section == "http") return "HTTP";
  if (section == "profiles") return "Profiles";
  if (section == "python") return "Python";
  if (section == "limits") return "Limits of a run";
  if (section == "pool") return "Waiting boxes";
  if (section == "boxes") return "What boxes need of the host";
  if (section == "audit") return "Audit log";
  if (section == "fairness") return "Fairness between clients";
  return "General";
}

bool IsNumber(const Setting& setting) {
  return std::holds_alternative<std::uint64_t ServeSettings::*>(setting.target);
}

bool IsList(const Setting& setting) {
  return std::holds_alternative<std::vector<std::string> ServeSettings::*>(setting.target);
}

// The value as this file's syntax writes it.
std::string TomlText(const Setting& setting, std::string_view text) {
  if (IsList(setting)) {
    std::string list;
    for (const std::string_view item : Split(text, ',')) {
      if (Trim(item).empty()) continue;
      list += (list.empty() ? "\"" : ", \"") + std::string(Trim(item)) + "\"";
    }
    return "[" + list + "]";
  }
  const bool is_flag = std::holds_alternative<bool ServeSettings::*>(setting.target);
  if (is_flag || (IsNumber(setting) && setting.unit != Setting::Unit::kBytes)) {
    return std::string(text);
  }
  return "\"" + std::string(text) + "\"";
}

// What the setting has been set to, as text that would set it to the same.
std::string CurrentText(const Setting& setting, const ServeSettings& settings) {
  if (const auto* number = std::get_if<std::uint64_t ServeSettings::*>(&setting.target)) {
    const std::uint64_t value = settings.*(*number);
    return setting.unit == Setting::Unit::kBytes ? SizeText(value) : std::to_string(value);
  }
  if (const auto* flag = std::get_if<bool ServeSettings::*>(&setting.target)) {
    return settings.*(*flag) ? "true" : "false";
  }
  if (const auto* text = std::get_if<std::string ServeSettings::*>(&setting.target)) {
    return settings.*(*text);
  }
  std::string joined;
  for (const std::string& item :
       settings.*std::get<std::vector<std::string> ServeSettings::*>(setting.target)) {
    joined += (joined.empty() ? "" : ",") + item;
  }
  return joined;
}

// Calls `visit(setting, is_first_of_its_section)` for the whole table.
template <typename Visitor>
void ForEachSetting(Visitor visit) {
  std::string_view section = "none yet";
  for (const Setting& setting : SettingTable()) {
    visit(setting, setting.section() != section);
    section = setting.section();
  }
}

constexpr std::string_view kManualTop = R"(# Configuration

Made from the table in `src/app/setting_table.cc` by `make config-docs`; a test compares.

Every setting of `glovebox serve` has a flag, an environment variable and a key of the TOML file.
The strongest source that has a value wins:

1. the flag on the command line;
2. the environment variable `SANDBOX_*`; an empty one counts as unset;
3. the same variable in `.env` in the current folder, or in the file of `--env-file FILE`
   (`--env-file ''`: in none);
4. the TOML file `/etc/glovebox/glovebox.toml`, or the file of `--config FILE`
   (`--config ''`: none);
5. the default.

A value that breaks its rule, an unknown flag or an unknown TOML key ends the start with exit code 2
and one sentence: the name, where it was written, the value and the rule. An unknown `SANDBOX_*`
variable, or one that has no effect in this version, is a warning on standard error.
`glovebox serve --print-config` shows every value in force and where it came from.

A file that was named must be there; the two default files need not be. Of `.env` only `SANDBOX_*`
lines are read: `NAME=VALUE`, with or without `export`, the value bare or in one pair of quotes,
nothing expanded. Whoever may write `.env` in the folder where the server starts decides over its
settings: start it elsewhere, or with `--env-file ''`, when that is somebody else.

## Tokens

With `--transport http` the server listens on a loopback address unless told otherwise. Any other
address needs a token of at least 32 characters, `SANDBOX_API_TOKEN` or a token file; without one
the server does not start (exit code 1). A token that is set is required on loopback, too. Clients
send `Authorization: Bearer <token>`; anything else is answered with 401. A good token comes from
`openssl rand -hex 32`.

A token file gives every client a name, and with it quotas of its own and tasks that no other client
can see:

```
# name token
build-agent 0f6d...
notebook    8c1e...
```

Letters, digits, `.`, `_` and `-` make a name. The file must not be readable by others
(`chmod o-r`). `/healthz` and `/readyz` need no token; `/metrics` needs one on any address but
loopback.
)";

constexpr std::string_view kManualExample = R"(
## Example

```toml
transport = "http"

[http]
host = "0.0.0.0"
token_file = "/etc/glovebox/tokens"
server_names = ["python.example.com"]

[limits]
timeout = 20
max_memory = "1g"
boxes = 32

[fairness]
rate = 20
burst = 40
```
)";

std::string ManualRow(const Setting& setting) {
  std::string variables;
  for (const std::string_view name : setting.variables) {
    variables += (variables.empty() ? "`" : ", else `") + std::string(name) + "`";
  }
  const std::string flag = setting.secret ? "none" : "`--" + std::string(setting.name) + "`";
  const std::string value =
      setting.default_text.empty() ? "none" : "`" + std::string(setting.default_text) + "`";
  return "| " + flag + " | " + variables + " | `" + std::string(setting.key) + "` | " + value +
         " | " + setting.Rule() + " | " + std::string(setting.description) + " |\n";
}

}  // namespace

std::string EnvironmentExample() {
  std::string text =
      "# Settings of `glovebox serve` as environment variables, each with its default. Copy to\n"
      "# .env and remove the # of what you change. Made by `make config-docs`; the manual is\n"
      "# docs/configuration.md.\n";
  ForEachSetting([&](const Setting& setting, bool first_of_section) {
    if (first_of_section) text += "\n# == " + Heading(setting.section()) + " ==\n";
    text += "\n# " + std::string(setting.description) + "\n# " + setting.Rule() + "\n#" +
            std::string(setting.variables.front()) + "=" + std::string(setting.default_text) + "\n";
  });
  return text;
}

std::string ConfigurationManual() {
  std::string text(kManualTop);
  ForEachSetting([&](const Setting& setting, bool first_of_section) {
    if (first_of_section) {
      text += "\n## " + Heading(setting.section()) +
              "\n\n| flag | variable | TOML key | default | value | meaning |\n"
              "|---|---|---|---|---|---|\n";
    }
    text += ManualRow(setting);
  });
  return text + std::string(kManualExample);
}

std::string EffectiveConfiguration(const Configuration& configuration) {
  std::string text;
  ForEachSetting([&](const Setting& setting, bool first_of_section) {
    if (first_of_section && !setting.section().empty()) {
      text += "\n[" + std::string(setting.section()) + "]\n";
    }
    const std::string_view section = setting.section();
    const std::string_view key =
        section.empty() ? setting.key : setting.key.substr(section.size() + 1);
    const auto origin = configuration.origins.find(setting.name);
    const bool given = origin != configuration.origins.end();
    const std::string value = TomlText(setting, CurrentText(setting, configuration.settings));
    text += setting.secret && given ? "# " + std::string(key) + " is set"
                                    : std::string(key) + " = " + value;
    text += (setting.secret && given ? ": " : "  # ") + (given ? origin->second : "default") + "\n";
  });
  return text;
}

}  // namespace glovebox

#include "app/configuration.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "app/environment_file.h"
#include "app/profile_settings.h"
#include "app/setting_table.h"
#include "base/file.h"
#include "base/text.h"
#include "policy/toml_settings.h"

namespace glovebox {
namespace {

constexpr std::string_view kPrefix = "SANDBOX_";
constexpr off_t kFileBytesMax = 1 << 20;

// A text somebody wrote, and where.
struct Written {
  std::string text;
  std::string origin;  // "SANDBOX_PORT in .env, line 3"
  bool readable_by_all = false;
};
using WrittenByName = std::map<std::string, Written, std::less<>>;

std::string LineOf(const NamedText& file, int line) {
  return " in " + file.name + ", line " + std::to_string(line);
}

// Every SANDBOX_* variable that is not empty; of one that stands twice the last counts.
WrittenByName OurVariables(const ConfigurationSources& sources) {
  WrittenByName found;
  for (const auto& [name, value] : sources.environment) {
    if (!name.starts_with(kPrefix) || Trim(value).empty()) continue;
    found[name] = {value, name + " in the environment"};
  }
  return found;
}

WrittenByName OurVariables(const NamedText& file) {
  WrittenByName found;
  for (const EnvironmentLine& line : ReadEnvironmentFile(file.text)) {
    if (!line.name.starts_with(kPrefix) || line.value.empty()) continue;
    found[line.name] = {line.value, line.name + LineOf(file, line.line), file.readable_by_all};
  }
  return found;
}

Result<WrittenByName> OurKeys(const NamedText& file) {
  auto settings = policy::ReadTomlSettings(file.text);
  if (!settings) return std::move(settings).error().Within(file.name);
  WrittenByName found;
  for (const policy::TomlSetting& setting : *settings) {
    const auto& table = SettingTable();
    const bool known = std::any_of(table.begin(), table.end(), [&](const Setting& candidate) {
      return candidate.key == setting.key;
    });
    if (!known) {
      return Error(Errc::kInvalidArgument, "`" + setting.key + "`" + LineOf(file, setting.line) +
                                               " is no setting; docs/configuration.md lists them");
    }
    found[setting.key] = {setting.text, "`" + setting.key + "`" + LineOf(file, setting.line),
                          file.readable_by_all};
  }
  return found;
}

void WarnAboutVariables(const WrittenByName& variables, std::vector<std::string>& warnings) {
  for (const auto& [name, written] : variables) {
    const auto& table = SettingTable();
    const bool known = std::any_of(table.begin(), table.end(), [&](const Setting& setting) {
      return std::find(setting.variables.begin(), setting.variables.end(), name) !=
             setting.variables.end();
    });
    if (known) continue;
    warnings.push_back(written.origin +
                       " is no setting and has no effect; docs/configuration.md lists them");
  }
}

const Written* FindVariable(const WrittenByName& variables, const Setting& setting) {
  for (const std::string_view name : setting.variables) {
    if (const auto found = variables.find(name); found != variables.end()) return &found->second;
  }
  return nullptr;
}

Error Refusal(const Setting& setting, const Written& written, const std::string& rule) {
  const std::string shown = setting.secret ? "" : " is '" + written.text + "':";
  return Error(Errc::kInvalidArgument, written.origin + shown + " must be " + rule);
}

std::string OriginOf(const Configuration& configuration, std::string_view name) {
  const auto found = configuration.origins.find(name);
  return found != configuration.origins.end() ? found->second
                                              : "the default of " + std::string(name);
}

// What single settings cannot know.
Status CheckTogether(const Configuration& configuration) {
  const ServeSettings& settings = configuration.settings;
  const auto too_large = [&](std::string_view name, std::string_view bound,
                             const std::string& value, const std::string& limit) {
    return Error(Errc::kInvalidArgument, OriginOf(configuration, name) + " is " + value +
                                             ": must be at most " + std::string(bound) +
                                             ", which is " + limit + "; lower it or raise --" +
                                             std::string(bound));
  };
  if (settings.timeout_seconds_default > settings.timeout_seconds_max) {
    return too_large("timeout", "max-timeout", std::to_string(settings.timeout_seconds_default),
                     std::to_string(settings.timeout_seconds_max));
  }
  if (settings.memory_bytes_default > settings.memory_bytes_max) {
    return too_large("memory", "max-memory", SizeText(settings.memory_bytes_default),
                     SizeText(settings.memory_bytes_max));
  }
  TRY(OfferOf(configuration).Check());
  if (settings.host.empty()) {
    return Error(Errc::kInvalidArgument, OriginOf(configuration, "host") +
                                             " is empty: must be an address such as 127.0.0.1");
  }
  const bool own_page =
      settings.path == "/healthz" || settings.path == "/readyz" || settings.path == "/metrics";
  if (!settings.path.starts_with('/') || own_page ||
      settings.path.find_first_of("?# \t") != std::string::npos) {
    return Error(Errc::kInvalidArgument,
                 OriginOf(configuration, "path") + " is '" + settings.path +
                     "': must begin with /, have neither query nor blanks, and not be /healthz, "
                     "/readyz or /metrics");
  }
  return {};
}

// The mode of a file that can be read into memory; a directory called .env is none.
std::optional<struct stat> RegularFile(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

Result<std::optional<NamedText>> ReadSource(const std::optional<std::string>& asked,
                                            std::string_view otherwise) {
  if (asked && asked->empty()) return std::optional<NamedText>();
  const std::string path = asked.value_or(std::string(otherwise));
  const std::optional<struct stat> status = RegularFile(path);
  if (!status) {
    if (!asked) return std::optional<NamedText>();
    return Error(Errc::kInvalidArgument, path + " is not a file that can be read");
  }
  if (status->st_size > kFileBytesMax) {
    return Error(Errc::kInvalidArgument, path + " is larger than a settings file can be (1m)");
  }
  std::optional<std::string> text = ReadFile(path);
  if (!text) return Error::FromErrno("reading " + path, errno);
  return std::optional(NamedText{path, std::move(*text), (status->st_mode & S_IROTH) != 0});
}

}  // namespace

Result<Configuration> Configure(const ConfigurationSources& sources) {
  const WrittenByName environment = OurVariables(sources);
  WrittenByName environment_file;
  if (sources.environment_file) environment_file = OurVariables(*sources.environment_file);
  WrittenByName keys;
  if (sources.config_file) keys = TRY(OurKeys(*sources.config_file));

  Configuration configuration;
  WarnAboutVariables(environment, configuration.warnings);
  WarnAboutVariables(environment_file, configuration.warnings);
  std::vector<std::string> exposed;  // secrets in files that everybody can read
  for (const Setting& setting : SettingTable()) {
    const auto flag = sources.flags.find(std::string(setting.name));
    const auto key = keys.find(setting.key);
    std::optional<Written> written;
    if (flag != sources.flags.end()) {
      written = {flag->second, "--" + std::string(setting.name)};
    } else if (const Written* found = FindVariable(environment, setting)) {
      written = *found;
    } else if (const Written* in_file = FindVariable(environment_file, setting)) {
      written = *in_file;
    } else if (key != keys.end()) {
      written = key->second;
    }
    if (!written) {
      const Status applied = setting.Apply(setting.default_text, configuration.settings);
      CHECK(applied.ok());
      continue;
    }
    if (const Status applied = setting.Apply(written->text, configuration.settings); !applied) {
      return Refusal(setting, *written, applied.error().message());
    }
    if (setting.secret && written->readable_by_all) exposed.push_back(written->origin);
    configuration.origins.emplace(setting.name, written->origin);
  }
  TRY(CheckTogether(configuration));
  for (const std::string& origin : exposed) {
    if (configuration.settings.transport != "http") break;
    configuration.warnings.push_back(origin +
                                     " can be read by every user of this machine; chmod o-r it");
  }
  return configuration;
}

Result<ConfigurationSources> ReadSources(std::map<std::string, std::string> flags,
                                         const std::optional<std::string>& config_file,
                                         const std::optional<std::string>& environment_file) {
  ConfigurationSources sources;
  sources.flags = std::move(flags);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    sources.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  sources.environment_file = TRY(ReadSource(environment_file, kDefaultEnvironmentFile));
  sources.config_file = TRY(ReadSource(config_file, kDefaultConfigFile));
  return sources;
}

}  // namespace glovebox

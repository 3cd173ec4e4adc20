#include "jail/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "embedded/jail_policies.h"
#include "jail/places.h"
#include "policy/toml_reader.h"

namespace glovebox::jail {
namespace {

namespace fs = std::filesystem;

bool IsExecutableFile(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool Exists(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

bool IsFile(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string Real(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

// "python3" for "python3.11": versions are not kinds.
std::string KindOf(const std::string& command) {
  std::string name = fs::path(command).filename().string();
  const std::size_t dot = name.find('.');
  if (name.starts_with("python") && dot != std::string::npos) name.resize(dot);
  return name;
}

bool IsInterpreter(const std::string& command) {
  static constexpr std::string_view kNames[] = {"node", "nodejs", "python", "python3", "bun",
                                                "sh",   "bash",   "ruby",   "perl",    "php"};
  return std::find(std::begin(kNames), std::end(kNames), KindOf(command)) != std::end(kNames);
}

// The folder that `file` was installed into together with what it needs, if that can be told.
std::optional<std::string> InstallationOf(const std::string& file, const Starter& starter) {
  constexpr std::string_view kModules = "/node_modules/";
  if (const std::size_t at = file.find(kModules); at != std::string::npos) {
    return file.substr(0, at + kModules.size() - 1);
  }
  const fs::path folder = fs::path(file).parent_path();
  if (folder.filename() != "bin") return std::nullopt;
  const std::string prefix = folder.parent_path().string();
  const bool is_home =
      std::find(starter.homes.begin(), starter.homes.end(), prefix) != starter.homes.end();
  if (is_home || prefix == "/" || prefix.empty() || prefix.ends_with("/.local")) {
    return std::nullopt;
  }
  return prefix;
}

}  // namespace

Result<std::vector<ProgramProfile>> ProgramProfiles() {
  std::vector<ProgramProfile> out;
  const toml::table document = TRY(policy::ParseToml(embedded::kProgramProfiles));
  for (const auto& [key, node] : document) {
    const toml::table* entry = node.as_table();
    if (entry == nullptr) return policy::InvalidPolicy("profiles: every entry is a table");
    TRY(policy::CheckKeys(*entry, {"commands", "writable_code", "memory", "pids", "files", "why"}));
    TRY(policy::ReadText(*entry, "why", "say what such programs need"));
    ProgramProfile profile;
    profile.name = std::string(key.str());
    if (const toml::array* commands = (*entry)["commands"].as_array()) {
      for (const toml::node& command : *commands) {
        profile.commands.push_back(command.value_or(std::string()));
      }
    }
    profile.writable_code = (*entry)["writable_code"].value_or(false);
    profile.memory_bytes = TRY(ParseSize(TRY(policy::ReadText(*entry, "memory", "as in 1g"))));
    profile.pids = (*entry)["pids"].value_or(0u);
    profile.files = (*entry)["files"].value_or(0u);
    out.push_back(std::move(profile));
  }
  return out;
}

Result<ProgramProfile> ChooseProfile(const std::string& name, const std::string& command) {
  const std::vector<ProgramProfile> profiles = TRY(ProgramProfiles());
  const std::string kind = KindOf(command);
  const auto matches = [&](const ProgramProfile& profile) {
    if (!name.empty()) return profile.name == name;
    return std::find(profile.commands.begin(), profile.commands.end(), kind) !=
           profile.commands.end();
  };
  auto found = std::find_if(profiles.begin(), profiles.end(), matches);
  if (found == profiles.end() && name.empty()) {
    found = std::find_if(profiles.begin(), profiles.end(),
                         [](const ProgramProfile& profile) { return profile.name == "generic"; });
  }
  if (found == profiles.end()) {
    return Error(Errc::kInvalidArgument, "there is no profile '" + name + "'");
  }
  return *found;
}

Result<std::string> FindExecutable(const std::string& command, const std::string& path_variable,
                                   const std::string& folder) {
  if (command.find('/') != std::string::npos) {
    const std::string path =
        fs::path(command).is_absolute() ? command : (fs::path(folder) / command).string();
    if (IsExecutableFile(path)) return fs::path(path).lexically_normal().string();
    std::error_code error;
    return Error(Errc::kInvalidArgument,
                 command + (fs::exists(path, error) ? ": is no program: it cannot be executed"
                                                    : ": there is no such program"));
  }
  for (const std::string_view part : Split(path_variable, ':')) {
    const std::string path = std::string(part) + "/" + command;
    if (!part.empty() && part[0] == '/' && IsExecutableFile(path)) return path;
  }
  return Error(Errc::kInvalidArgument,
               command + ": there is no such program in " + path_variable + " (PATH)");
}

ProgramFiles FindProgramFiles(const std::vector<std::string>& command,
                              const std::string& executable, const Starter& starter) {
  ProgramFiles files;
  const auto add = [&](const std::string& path) {
    const std::optional<std::string> installation = InstallationOf(path, starter);
    files.installation.push_back(installation.value_or(path));
  };
  // A virtual environment's interpreter is a link out of it: both ends belong to the program.
  const std::string real = Real(executable);
  add(real);
  if (real != executable && InstallationOf(executable, starter)) {
    add((fs::path(Real(fs::path(executable).parent_path().string())) /
         fs::path(executable).filename())
            .string());
  }
  bool wants_script = IsInterpreter(command.front());
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& argument = command[i];
    if (argument.empty() || argument[0] == '-') {
      // -c, -m, -e: the code is not in a file.
      if (wants_script && (argument == "-c" || argument == "-m" || argument == "-e")) {
        wants_script = false;
      }
      continue;
    }
    if (wants_script) {
      wants_script = false;
      const std::string script = ExpandPath(argument, starter);
      if (IsFile(script)) {
        add(Real(script));
        continue;
      }
    }
    if (argument[0] == '/' && Exists(argument)) files.argument_paths.push_back(argument);
  }
  return files;
}

}  // namespace glovebox::jail

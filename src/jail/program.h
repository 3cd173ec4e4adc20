#pragma once

// Which program a command line names, and what of the host it is made of.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace glovebox::jail {

struct Starter;

// What is known of one kind of programs: an entry of policies/jail/profiles.toml.
struct ProgramProfile {
  std::string name;  // "node"
  std::vector<std::string> commands;
  bool writable_code = false;  // it makes code as it runs
  std::uint64_t memory_bytes = 0;
  std::uint32_t pids = 0;
  std::uint32_t files = 0;
};
Result<std::vector<ProgramProfile>> ProgramProfiles();

// The profile called `name`; without one, that of the command.
Result<ProgramProfile> ChooseProfile(const std::string& name, const std::string& command);

// The file that `command` names, as a shell would find it on `path_variable`. An error says where
// was looked.
Result<std::string> FindExecutable(const std::string& command, const std::string& path_variable,
                                   const std::string& folder);

struct ProgramFiles {
  // What the program is made of, as far as a command line tells: the executable, the script that an
  // interpreter is given, and the folders they were installed into (node_modules, a virtual
  // environment, a prefix with a bin folder). Real paths.
  std::vector<std::string> installation;
  // Existing files and folders among the other arguments, as they were given, absolute.
  std::vector<std::string> argument_paths;
};
ProgramFiles FindProgramFiles(const std::vector<std::string>& command,
                              const std::string& executable, const Starter& starter);

}  // namespace glovebox::jail

#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox policy check|explain|diff`: policies of the jail. Sets `exit_code` when it was chosen.
void AddPolicyCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

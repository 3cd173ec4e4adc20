#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox exec`: one execution, for people and scripts. Sets `exit_code` when it was chosen.
void AddExecCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

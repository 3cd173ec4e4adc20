#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox run`: a program of others in a jail. Sets `exit_code` when it was chosen.
void AddRunCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox validate`: the language layer alone, in a box; nothing is run. Sets `exit_code` when it
// was chosen.
void AddValidateCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox doctor`: which walls stand on this host, and how to raise the rest. Sets `exit_code`
// when it was chosen.
void AddDoctorCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

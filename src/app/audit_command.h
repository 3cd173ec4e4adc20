#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox audit`: host against box, probe by probe, wall by wall. Sets `exit_code` when it was
// chosen.
void AddAuditCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

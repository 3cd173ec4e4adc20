#pragma once

namespace CLI {
class App;
}

namespace glovebox {

// `glovebox audit-log verify FILE...`: exit code 0 when the chain is whole, 1 when not, 2 for wrong
// usage or a file that cannot be read.
void AddAuditLogCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

#pragma once

#include <CLI/App.hpp>

namespace glovebox {

// Adds `glovebox serve`: the MCP server, one client on stdin and stdout, until that client closes
// stdin or SIGTERM or SIGINT arrives. When the command was given and has run, `exit_code` is 0
// after a client that came to its end, 1 when the server could not start or lost its client; the
// reason is on stderr then. `exit_code` must outlive `root`.
void AddServeCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

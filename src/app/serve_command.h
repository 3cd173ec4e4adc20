#pragma once

#include <CLI/App.hpp>

namespace glovebox {

// Adds `glovebox serve`: the MCP server, on standard input and output or over HTTP. When the
// command was given and has run, `exit_code` is 0 after a server that came to its end in order, 1
// when it could not start or lost its client, 2 for a wrong setting; the reason is on stderr then.
// `exit_code` must outlive `root`.
void AddServeCommand(CLI::App& root, int& exit_code);

}  // namespace glovebox

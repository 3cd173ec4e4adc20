#pragma once

namespace glovebox::egress {

// All of glovebox-egress: takes its set-up from `socket_fd`, locks itself in, serves until the
// server is gone. Returns only when it could not: an exit code.
int RunProxy(int socket_fd);

}  // namespace glovebox::egress

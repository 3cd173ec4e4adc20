#pragma once

#include <sys/types.h>

#include <functional>

namespace glovebox {

// Runs `work` in a process of its own and answers with its exit code. We stay in front of it, the
// process that a client knows: signals are passed on, and when somebody kills us with SIGKILL the
// other one hears of it and clears away what it has made on the host. `work` gets the client's
// process id, our parent's. Precondition: this process has one thread.
int RunKept(const std::function<int(pid_t client)>& work);

}  // namespace glovebox

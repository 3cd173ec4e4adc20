#pragma once

namespace glovebox::zygote {

// The whole life of a container's first process. The runtime has built the walls around it before:
// root, namespaces, user, limits. Takes its set-up and the box's descriptors (wire/zygote.h, the
// order of SpawnBox) from the server in one message, starts Python beside itself, answers with a
// ZygoteReady when Python is locked, then reaps and reports as the init of a box does. Ends, and
// the container with it, when Python has ended or the server has closed its socket. Returns only
// if it cannot begin: the exit code.
int RunContainerBox(int socket_fd);

// Connects to the server's socket at `path`. -1, after a word on standard error, if it cannot.
int CallServer(const char* path);

}  // namespace glovebox::zygote

#pragma once

namespace glovebox::zygote {

// The whole life of glovebox-python: takes its set-up from the server, starts the interpreter,
// forks a box for every request, itself or by makers, reaps them. Ends when the server closes its
// socket, or a maker ends (and, being PID 1 of its namespace, takes every box with it). Returns the
// exit code.
int RunZygote(int socket_fd);

}  // namespace glovebox::zygote

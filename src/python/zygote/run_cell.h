#pragma once

#include "python/wire/gate.h"
#include "sandbox/plan/walls.h"

namespace glovebox::zygote {

// Notes what the interpreter occupies, to which a request's limit is added. Once, when it is warm;
// what a rehearsal in a box may add is nothing beside the room that the limit leaves.
void MeasureInterpreter();

// Runs one request in this process, which untrusted code owns from here on. Returns how it ended in
// the process's own words. Never throws; a failure of our own runtime is an ending like any other
// (type "RuntimeError", the reason in the message).
wire::RunResult RunCell(const wire::RunRequest& request, sandbox::Walls walls);

}  // namespace glovebox::zygote

#pragma once

namespace glovebox::container {

// Becomes the program `argv[0]` where the cgroup hierarchies of version 1 are out of sight, except
// that of devices: runtimes that share the host's kernel then leave their containers in the groups
// they are started in, and crun does not refuse hosts that have both versions. Returns only if that
// fails: the exit code, after a line on standard error.
int HideCgroupsAndExec(char* const* argv);

// Becomes argv[0], which does not die with who started us. Returns only on failure: the exit code.
int OutliveAndExec(char* const* argv);

}  // namespace glovebox::container

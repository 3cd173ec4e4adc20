#pragma once

#include <linux/sched.h>

namespace glovebox::sandbox {

// Clones a child that runs `child(argument)` in the caller's memory, on its stack below its frames,
// while the caller waits: until the child has executed a program, or ended. `args.flags` are added
// to; the rest of `args` is the caller's, without a stack. `child` must not return, and what it
// leaves in memory the caller finds there. Where clone3 is not to be had and the flags allow it,
// the older call serves.
//
// The child's id, or -1 and errno. Precondition: one thread.
long VforkClone(clone_args args, void (*child)(const void* argument),
                const void* argument) noexcept;

}  // namespace glovebox::sandbox

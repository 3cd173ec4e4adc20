#pragma once

// The builtins of a program under the language layer, and the look at an attribute whose meaning
// depends on its object. All are C functions: they have no frame, no globals and no code to reach.

#include <string_view>

#include "base/result.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// Once per process, before any fork.
Status PrepareGuards();

// A namespace for `__builtins__` of the program, after the policy of Refusals(). Borrowed.
PyObject* GuardedBuiltins();

// A member of a library module as the program gets it: looking attributes up by name is guarded
// wherever a library offers it.
PyRef GuardedMember(std::string_view module, std::string_view member, PyRef value);

}  // namespace glovebox::zygote

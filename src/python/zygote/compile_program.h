#pragma once

// From source to code objects by CPython's own parser and compiler, in one pass: a tree of Python
// objects is made only for somebody who looks at it, and read back only if it was changed. Both
// take longer than parsing and compiling.

#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// A function for the prelude: compile_program(source: bytes, filename, check, namespace) ->
// (steps, bound). Steps are code objects to evaluate one after the other; a final expression is a
// step of its own, so that the last one's value is the program's. `check`, unless it is None, gets
// the tree as Python objects and the namespace, may change the tree, and returns (what it bound in
// the namespace, whether it changed the tree). Raises what compile() and `check` raise. Null, with
// a Python exception, when memory is short.
PyRef MakeCompileProgram();

}  // namespace glovebox::zygote

#pragma once

// What a program sees of a library module: a module object of the same name that looks members up
// in the real one, on first use, and hands out only what the policy grants. Functions and classes
// are kept in it, so that a second look costs what it costs without the layer.

#include <string_view>

#include "base/result.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

Status PrepareModuleViews();

// The builtin `__import__` of a program: the policy first, then the real import, then the view.
PyObject* GuardedImport(PyObject* self, PyObject* arguments, PyObject* keywords);

// New reference to the view of `module`.
PyRef ViewOf(PyObject* module);
bool IsView(PyObject* module);

}  // namespace glovebox::zygote

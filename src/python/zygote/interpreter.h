#pragma once

// The only header besides the .cc files of this folder that knows CPython.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "python/wire/zygote.h"

namespace glovebox::zygote {

// Owns one reference.
class PyRef {
 public:
  PyRef() = default;
  explicit PyRef(PyObject* object) : object_(object) {}
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Starts CPython in this process, isolated from environment and site, loads the prelude and imports
// what the set-up names. Once per process, before any fork; there is no way to stop it again.
Status StartInterpreter(const wire::ZygoteSetup& setup);

// What a fork of the interpreter does first, after PyOS_BeforeFork() in its parent: puts its state
// right and reseeds what is random.
Status AfterFork();

// What lives now lives for ever: it need not be traversed, and so not be copied, by any box.
Status FreezeHeap();

// A function of the prelude (prelude/runtime.py). Borrowed; null only if the prelude lacks it.
PyObject* PreludeFunction(const char* name);

// The namespace of prelude/values.py, loaded when asked for first. Borrowed; null, with no
// exception set, when it cannot be loaded.
PyObject* ValuesPrelude();

// The pending Python exception as "Type: message", cleared.
std::string TakePythonError();

}  // namespace glovebox::zygote

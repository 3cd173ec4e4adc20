#pragma once

#include <string>

#include "python/wire/value.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// A Python value as plain data: None, booleans, integers of 64 bits, floats, texts, lists, tuples
// and dictionaries with text keys, nested within the wire's bounds. When any part is something else
// the whole value becomes its str(), as a person would see it. Runs user code (__str__).
wire::Value FromPython(PyObject* object);

// The other way; null with a Python exception set when memory runs out.
PyRef ToPython(const wire::Value& value);

// repr() or str() as UTF-8, cut at `bytes_max` on a character boundary; a text that says so when
// the conversion itself raises. Runs user code.
std::string ReprText(PyObject* object, std::size_t bytes_max);
std::string StrText(PyObject* object, std::size_t bytes_max);

}  // namespace glovebox::zygote

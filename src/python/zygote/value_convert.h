#pragma once

#include <string>
#include <vector>

#include "python/wire/value.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {

// A Python value for the outside.
struct PlainValue {
  wire::Value data;
  std::string text;                // str() of a value that is not plain itself but has plain data
  std::vector<std::string> notes;  // what the data does not say: sentences for people
};

// Plain data is None, booleans, integers of 64 bits, floats, texts, lists, tuples and dictionaries,
// nested within the wire's bounds. Values of well-known types become that (prelude/values.py),
// others their str(), where they stand. What is larger, deeper or refers to itself becomes its
// str() as a whole. Runs user code.
PlainValue FromPython(PyObject* object);

// The other way; null with a Python exception set when memory runs out.
PyRef ToPython(const wire::Value& value);

// repr() or str() as UTF-8, cut at `bytes_max` on a character boundary; a text that says so when
// the conversion itself raises. Runs user code.
std::string ReprText(PyObject* object, std::size_t bytes_max);
std::string StrText(PyObject* object, std::size_t bytes_max);

}  // namespace glovebox::zygote

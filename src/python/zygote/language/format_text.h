#pragma once

#include "python/zygote/interpreter.h"
#include "python/zygote/language/name_tables.h"

namespace glovebox::zygote {

// The rule that a format string, as str.format understands it, breaks by the attributes its fields
// read; null when it breaks none. `text` must be a str.
const AttributeRule* RefusedField(PyObject* text);

// The same for a dotted name, as operator.attrgetter understands it.
const AttributeRule* RefusedPath(PyObject* text);

}  // namespace glovebox::zygote

#pragma once

// The rules' names as dictionaries of interned strings. Prepared once in the zygote.

#include <optional>

#include "base/result.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/language/rules.h"

namespace glovebox::zygote {

class NameTables {
 public:
  static Status Prepare();
  static const NameTables& Get();

  // `name` must be a str. Null when no rule is about it.
  const AttributeRule* Attribute(PyObject* name) const;
  bool IsRefusedBuiltin(PyObject* name) const { return Has(builtins_, name); }
  // A top-level module that a program may mention without importing it.
  bool IsModule(PyObject* name) const { return Has(modules_, name); }
  bool IsStandardModule(PyObject* name) const { return Has(standard_, name); }
  bool IsLookup(PyObject* name) const { return Has(lookups_, name); }
  // Sensitive as the key of a namespace: globals()["__builtins__"].
  bool IsNamespaceKey(PyObject* name) const;

  PyObject* guard_name() const { return guard_name_; }

 private:
  static bool Has(PyObject* dict, PyObject* name) { return PyDict_GetItem(dict, name) != nullptr; }
  PyObject* attributes_ = nullptr;  // name -> index in AttributeRules()
  PyObject* builtins_ = nullptr;
  PyObject* modules_ = nullptr;
  PyObject* standard_ = nullptr;  // those of the standard library
  PyObject* lookups_ = nullptr;   // getattr, attrgetter and their like
  PyObject* guard_name_ = nullptr;
};

}  // namespace glovebox::zygote

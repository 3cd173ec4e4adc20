#include "python/zygote/language/guards.h"

#include <algorithm>
#include <string>

#include "python/wire/language.h"
#include "python/zygote/language/format_text.h"
#include "python/zygote/language/module_view.h"
#include "python/zygote/language/name_tables.h"
#include "python/zygote/language/refusal.h"

namespace glovebox::zygote {
namespace {

PyObject* g_builtins = nullptr;  // the guarded namespace, made in the zygote
PyObject* g_refused = nullptr;   // by the name of a refused builtin: what stands in its place
PyObject* g_attrgetter = nullptr;
PyObject* g_methodcaller = nullptr;

const ActivePolicy& Policy() { return *Refusals().policy(); }

bool Applies(const AttributeRule* rule) { return rule != nullptr && Policy().applies(rule->rule); }

PyObject* RefuseAttribute(const AttributeRule& rule, PyObject* object) {
  const std::string what = std::string("Attribute '") + rule.name + "' of a '" +
                           Py_TYPE(object)->tp_name + "' object is not allowed";
  return RefuseNow(rule.rule, what, rule.name);
}

// A class whose statement, or type() call, stands in the program.
bool IsOwnClass(PyObject* object) {
  if (!PyType_Check(object)) return false;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  PyObject* module = PyDict_GetItemString(type->tp_dict, "__module__");
  return module != nullptr && PyUnicode_Check(module) &&
         PyUnicode_CompareWithASCIIString(module, "__main__") == 0;
}

template <typename Function>
PyCFunction AsFunction(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyObject* CheckedFormat(PyObject* self, PyObject* arguments, PyObject* keywords);
PyObject* CheckedLookup(PyObject* self, PyObject* arguments);

PyMethodDef kFormat = {"format", AsFunction(&CheckedFormat), METH_VARARGS | METH_KEYWORDS, nullptr};
PyMethodDef kLookup = {"__getattribute__", &CheckedLookup, METH_VARARGS, nullptr};

// The real method in a capsule, so that the program gets only the checked one.
PyRef Wrap(PyMethodDef* method, PyRef real) {
  if (!real) return PyRef();
  const PyRef inside(PyCapsule_New(real.get(), nullptr, [](PyObject* capsule) {
    Py_XDECREF(static_cast<PyObject*>(PyCapsule_GetPointer(capsule, nullptr)));
  }));
  if (!inside) return PyRef();
  real.release();
  return PyRef(PyCFunction_New(method, inside.get()));
}

PyObject* RefuseField(const AttributeRule& rule) {
  return RefuseNow(RuleId::kFormat,
                   std::string("Format string reads '") + rule.name + "', which is not allowed",
                   rule.name);
}

// str.format or "...".format: the text is the method's own, or its first argument.
PyObject* CheckedFormat(PyObject* self, PyObject* arguments, PyObject* keywords) {
  auto* real = static_cast<PyObject*>(PyCapsule_GetPointer(self, nullptr));
  if (real == nullptr) return nullptr;
  PyObject* text = PyCFunction_Check(real) ? PyCFunction_GET_SELF(real) : nullptr;
  if (text == nullptr && PyTuple_GET_SIZE(arguments) > 0) text = PyTuple_GET_ITEM(arguments, 0);
  if (text != nullptr && PyUnicode_Check(text)) {
    const AttributeRule* rule = RefusedField(text);
    if (Applies(rule)) return RefuseField(*rule);
  }
  return PyObject_Call(real, arguments, keywords);
}

PyObject* GuardedAttribute(PyObject* object, PyObject* name, const AttributeRule& rule);

// object.__getattribute__(x, name), super().__getattribute__(name).
PyObject* CheckedLookup(PyObject* self, PyObject* arguments) {
  auto* real = static_cast<PyObject*>(PyCapsule_GetPointer(self, nullptr));
  if (real == nullptr) return nullptr;
  const Py_ssize_t size = PyTuple_GET_SIZE(arguments);
  PyObject* name = size > 0 ? PyTuple_GET_ITEM(arguments, size - 1) : nullptr;
  if (name != nullptr && PyUnicode_Check(name)) {
    const PyRef exact(PyUnicode_FromObject(name));
    const AttributeRule* rule = exact ? NameTables::Get().Attribute(exact.get()) : nullptr;
    // An object's own namespace is what such a method is usually written for.
    const bool own_space = rule != nullptr && rule->rule == RuleId::kNamespace && size == 1;
    const bool shown_only = rule != nullptr && rule->rule == RuleId::kFormat;
    if (Applies(rule) && !own_space && !shown_only) {
      PyObject* object = size > 1 ? PyTuple_GET_ITEM(arguments, 0) : real;
      if (rule->action == AttributeAction::kRefuse || PyType_Check(object) ||
          rule->rule != RuleId::kNamespace) {
        return RefuseAttribute(*rule, object);
      }
    }
  }
  return PyObject_CallObject(real, arguments);
}

// What depends on the object. New reference, or null with an exception.
PyObject* GuardedAttribute(PyObject* object, PyObject* name, const AttributeRule& rule) {
  const std::string_view word = rule.name;
  PyRef value;
  switch (rule.rule) {
    case RuleId::kFormat:
      value = PyRef(PyObject_GetAttr(object, name));
      if (!value) return nullptr;
      if (PyUnicode_Check(object) ||
          (PyType_Check(object) &&
           PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object), &PyUnicode_Type) != 0)) {
        return Wrap(&kFormat, std::move(value)).release();
      }
      return value.release();
    case RuleId::kClassWalk:
      if (PyType_Check(object) && !IsOwnClass(object)) return RefuseAttribute(rule, object);
      return PyObject_GetAttr(object, name);
    case RuleId::kNamespace: {
      const bool foreign_class = PyType_Check(object) && !IsOwnClass(object);
      if (foreign_class || PyModule_Check(object)) return RefuseAttribute(rule, object);
      return PyObject_GetAttr(object, name);
    }
    case RuleId::kDynamicAttribute:
      return Wrap(&kLookup, PyRef(PyObject_GetAttr(object, name))).release();
    default: break;
  }
  if (word == "__self__") {
    value = PyRef(PyObject_GetAttr(object, name));
    if (value && PyModule_Check(value.get())) return RefuseAttribute(rule, object);
    return value.release();
  }
  return RefuseAttribute(rule, object);
}

// Whichever way the name came.
PyObject* Lookup(PyObject* object, PyObject* name) {
  const PyRef exact(PyUnicode_FromObject(name));  // what the name is, not what it says it is
  if (!exact) return nullptr;
  const AttributeRule* rule = NameTables::Get().Attribute(exact.get());
  if (!Applies(rule)) return PyObject_GetAttr(object, exact.get());
  if (rule->action == AttributeAction::kRefuse) return RefuseAttribute(*rule, object);
  return GuardedAttribute(object, exact.get(), *rule);
}

// `.attribute`, where the checker saw such a name: the object, the name.
PyObject* Attribute(PyObject* /*self*/, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "an object and a name are needed");
    return nullptr;
  }
  return Lookup(arguments[0], arguments[1]);
}

PyObject* GetAttr(PyObject* /*self*/, PyObject* const* arguments, Py_ssize_t count) {
  if (count < 2 || count > 3) {
    PyErr_Format(PyExc_TypeError, "getattr expected at least 2 arguments, got %zd", count);
    return nullptr;
  }
  if (!PyUnicode_Check(arguments[1])) {
    PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'",
                 Py_TYPE(arguments[1])->tp_name);
    return nullptr;
  }
  // Programs write x.__class__ or type(x); a name that is put together is how escapes begin.
  if (PyUnicode_CompareWithASCIIString(arguments[1], "__class__") == 0) {
    return RefuseNow(RuleId::kDynamicAttribute,
                     "Attribute '__class__' is not allowed in getattr(); write type(x)",
                     "__class__");
  }
  PyObject* value = Lookup(arguments[0], arguments[1]);
  if (value == nullptr && count == 3 && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
    PyErr_Clear();
    Py_INCREF(arguments[2]);
    return arguments[2];
  }
  return value;
}

PyObject* Vars(PyObject* /*self*/, PyObject* const* arguments, Py_ssize_t count) {
  if (count == 0) {
    PyObject* locals = PyEval_GetLocals();
    Py_XINCREF(locals);
    return locals;
  }
  const PyRef name(PyUnicode_FromString("__dict__"));
  PyObject* space = count == 1 && name ? Lookup(arguments[0], name.get()) : nullptr;
  if (space == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
    PyErr_SetString(PyExc_TypeError, "vars() argument must have __dict__ attribute");
  } else if (space == nullptr && PyErr_Occurred() == nullptr) {
    PyErr_SetString(PyExc_TypeError, "vars expected at most 1 argument");
  }
  return space;
}

// One function for each refused builtin; self is its name.
PyObject* Refused(PyObject* self, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  const char* name = PyUnicode_AsUTF8(self);
  return RefuseNow(RuleId::kBuiltin, std::string("Builtin '") + name + "' is not allowed", name);
}

// operator.attrgetter and methodcaller: the names are checked when the getter is made.
PyObject* MakeGetter(PyObject* real, PyObject* arguments, PyObject* keywords, Py_ssize_t names) {
  for (Py_ssize_t i = 0; i < std::min(names, PyTuple_GET_SIZE(arguments)); ++i) {
    PyObject* text = PyTuple_GET_ITEM(arguments, i);
    if (!PyUnicode_Check(text)) continue;
    const AttributeRule* rule = RefusedPath(text);
    if (Applies(rule)) {
      return RefuseNow(RuleId::kDynamicAttribute,
                       std::string("Attribute '") + rule->name + "' by name is not allowed",
                       rule->name);
    }
  }
  return PyObject_Call(real, arguments, keywords);
}

PyObject* AttrGetter(PyObject* /*self*/, PyObject* arguments, PyObject* keywords) {
  return MakeGetter(g_attrgetter, arguments, keywords, PY_SSIZE_T_MAX);
}

PyObject* MethodCaller(PyObject* /*self*/, PyObject* arguments, PyObject* keywords) {
  PyObject* name = PyTuple_GET_SIZE(arguments) > 0 ? PyTuple_GET_ITEM(arguments, 0) : nullptr;
  for (const char* word : {"format", "format_map"}) {
    if (name != nullptr && PyUnicode_Check(name) &&
        PyUnicode_CompareWithASCIIString(name, word) == 0) {
      return RefuseNow(RuleId::kDynamicAttribute,
                       std::string("Method '") + word + "' by name is not allowed", word);
    }
  }
  return MakeGetter(g_methodcaller, arguments, keywords, 1);
}

PyMethodDef kGuards[] = {
    {".attribute", AsFunction(&Attribute), METH_FASTCALL, nullptr},
    {"getattr", AsFunction(&GetAttr), METH_FASTCALL, "getattr(object, name[, default]) -> value"},
    {"vars", AsFunction(&Vars), METH_FASTCALL, "vars([object]) -> dictionary"},
    {"__import__", AsFunction(&GuardedImport), METH_VARARGS | METH_KEYWORDS, nullptr},
};
PyMethodDef kRefused = {"refused", AsFunction(&Refused), METH_VARARGS | METH_KEYWORDS, nullptr};
PyMethodDef kAttrGetter = {"attrgetter", AsFunction(&AttrGetter), METH_VARARGS | METH_KEYWORDS,
                           nullptr};
PyMethodDef kMethodCaller = {"methodcaller", AsFunction(&MethodCaller),
                             METH_VARARGS | METH_KEYWORDS, nullptr};

// string.Formatter.get_field, whose class programs derive from: guarded in the class itself.
PyObject* g_real_get_field = nullptr;

PyObject* GetField(PyObject* /*self*/, PyObject* arguments) {
  if (PyTuple_GET_SIZE(arguments) >= 2) {
    PyObject* field = PyTuple_GET_ITEM(arguments, 1);
    const PyRef braced(PyUnicode_FromFormat("{%S}", field));
    if (!braced) return nullptr;
    const AttributeRule* rule = RefusedField(braced.get());
    if (Applies(rule)) return RefuseField(*rule);
  }
  return PyObject_CallObject(g_real_get_field, arguments);
}

PyMethodDef kGetField = {"get_field", &GetField, METH_VARARGS, nullptr};

bool GuardFormatter(PyObject* formatter) {
  if (g_real_get_field != nullptr) return true;
  g_real_get_field = PyObject_GetAttrString(formatter, "get_field");
  const PyRef guard(PyCFunction_New(&kGetField, nullptr));
  const PyRef method(guard ? PyInstanceMethod_New(guard.get()) : nullptr);
  return method && PyObject_SetAttrString(formatter, "get_field", method.get()) == 0;
}

}  // namespace

Status PrepareGuards() {
  g_builtins = PyDict_Copy(PyEval_GetBuiltins());
  bool made = g_builtins != nullptr;
  for (PyMethodDef& method : kGuards) {
    const PyRef function(PyCFunction_New(&method, nullptr));
    made =
        made && function && PyDict_SetItemString(g_builtins, method.ml_name, function.get()) == 0;
  }
  // Objects that print files, and the modules' own machinery.
  for (const char* name : {"copyright", "credits", "license", "__loader__", "__spec__"}) {
    if (made && PyDict_GetItemString(g_builtins, name) != nullptr) {
      made = PyDict_DelItemString(g_builtins, name) == 0;
    }
  }
  made = made && PyDict_SetItemString(g_builtins, "SecurityError", SecurityErrorType()) == 0;
  g_refused = PyDict_New();
  for (const char* name : wire::kRefusedBuiltins) {
    const PyRef text(PyUnicode_InternFromString(name));
    const PyRef function(text ? PyCFunction_New(&kRefused, text.get()) : nullptr);
    made = made && g_refused != nullptr && function &&
           PyDict_SetItem(g_refused, text.get(), function.get()) == 0;
  }
  if (!made) return Error(Errc::kUnsupported, "preparing the guards: " + TakePythonError());
  return {};
}

// The zygote's dictionary is this box's own copy, to be changed at will, by every program anew.
PyObject* GuardedBuiltins() {
  PyObject* name = nullptr;
  PyObject* refusal = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(g_refused, &at, &name, &refusal) != 0;) {
    const bool granted =
        Policy().Grants(PyUnicode_AsUTF8(name)) || !Policy().applies(RuleId::kBuiltin);
    PyObject* value = granted ? PyDict_GetItem(PyEval_GetBuiltins(), name) : refusal;
    if (value != nullptr && PyDict_SetItem(g_builtins, name, value) != 0) return nullptr;
  }
  return g_builtins;
}

PyRef GuardedMember(std::string_view module, std::string_view member, PyRef value) {
  if (module == "operator" && member == "attrgetter") {
    g_attrgetter = value.release();
    return PyRef(PyCFunction_New(&kAttrGetter, nullptr));
  }
  if (module == "operator" && member == "methodcaller") {
    g_methodcaller = value.release();
    return PyRef(PyCFunction_New(&kMethodCaller, nullptr));
  }
  if (module == "string" && member == "Formatter" && !GuardFormatter(value.get())) return PyRef();
  return value;
}

}  // namespace glovebox::zygote

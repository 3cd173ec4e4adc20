#include "python/zygote/language/module_view.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "python/zygote/language/guards.h"
#include "python/zygote/language/name_tables.h"
#include "python/zygote/language/refusal.h"

namespace glovebox::zygote {
namespace {

std::unordered_map<PyObject*, PyObject*> g_view_of;  // real -> view; both live for ever
std::unordered_map<PyObject*, PyObject*> g_real_of;
// Granted under a name that is not their own: os.path is posixpath.
std::unordered_set<PyObject*> g_granted;

std::string Text(PyObject* text) {
  const char* utf8 = text != nullptr && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 != nullptr ? utf8 : "";
}

// From its namespace: a module's own __getattr__ need not run.
std::string NameOf(PyObject* module) {
  return Text(PyDict_GetItemString(PyModule_GetDict(module), "__name__"));
}

const ActivePolicy& Policy() { return *Refusals().policy(); }

// The member of the real module; a plain miss is null without an exception, because the exception
// would carry the real module.
PyRef Member(PyObject* real, PyObject* name) {
  PyRef value(PyObject_GetAttr(real, name));
  if (value || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return value;
  PyErr_Clear();
  // A submodule that is loaded but not bound yet, in a circular import.
  const std::string dotted = NameOf(real) + "." + Text(name);
  PyObject* loaded = PyDict_GetItemString(PyImport_GetModuleDict(), dotted.c_str());
  Py_XINCREF(loaded);
  return PyRef(loaded);
}

PyObject* Missing(PyObject* view, PyObject* real, PyObject* name) {
  const PyRef message(
      PyUnicode_FromFormat("module '%s' has no attribute '%U'", NameOf(real).c_str(), name));
  const PyRef exception(message ? PyObject_CallOneArg(PyExc_AttributeError, message.get())
                                : nullptr);
  if (!exception) return nullptr;
  PyObject_SetAttrString(exception.get(), "name", name);
  PyObject_SetAttrString(exception.get(), "obj", view);
  PyErr_SetObject(PyExc_AttributeError, exception.get());
  return nullptr;
}

// A module as a member: granted by its own name, or by the name under which it was reached.
PyObject* ModuleMember(PyObject* real, PyObject* name, PyObject* value) {
  const std::string own = NameOf(value);
  const std::string dotted = NameOf(real) + "." + Text(name);
  const bool registered = PyDict_GetItemString(PyImport_GetModuleDict(), dotted.c_str()) == value;
  if (registered && Policy().Allows(dotted)) g_granted.insert(value);
  const bool granted = Policy().Allows(own) || Policy().LeadsToAllowed(own) ||
                       (registered && (Policy().Allows(dotted) || Policy().LeadsToAllowed(dotted)));
  if (granted || !Policy().applies(RuleId::kModuleWalk)) return ViewOf(value).release();
  return RefuseNow(RuleId::kModuleWalk,
                   "Module '" + own + "' through '" + dotted + "' is not allowed", dotted, own);
}

bool IsFunction(PyObject* value) {
  return PyFunction_Check(value) || PyCFunction_Check(value) || PyMethod_Check(value);
}

bool IsDunder(std::string_view name) { return name.starts_with("__") && name.ends_with("__"); }

// What of a package is seen when only something below it is granted.
bool IsMetadata(std::string_view name) {
  return name == "__name__" || name == "__doc__" || name == "__file__" || name == "__version__" ||
         name == "__path__" || name == "__all__" || name == "__package__";
}

// Null with an exception set when the policy has an objection.
PyRef Granted(PyObject* real, PyObject* name, PyRef value) {
  const std::string member = Text(name);
  const std::string module = NameOf(real);
  if (const AttributeRule* rule = NameTables::Get().Attribute(name);
      rule != nullptr && rule->action == AttributeAction::kRefuse && Policy().applies(rule->rule)) {
    return PyRef(
        RefuseNow(rule->rule, "Attribute '" + member + "' is not allowed", module + "." + member));
  }
  if (const MemberRule* rule = MemberRuleOf(module, member);
      rule != nullptr && Policy().applies(rule->rule)) {
    return PyRef(RefuseNow(rule->rule, "'" + module + "." + member + "' is not allowed",
                           module + "." + member));
  }
  if (PyModule_Check(value.get())) return PyRef(ModuleMember(real, name, value.get()));
  if (!Policy().Allows(module) && !g_granted.contains(real) && !IsMetadata(member) &&
      Policy().applies(RuleId::kModuleWalk)) {
    return PyRef(RefuseNow(RuleId::kModuleWalk, "'" + module + "." + member + "' is not allowed",
                           module + "." + member, module));
  }
  if (member.starts_with('_') && !IsDunder(member) && IsFunction(value.get()) &&
      Policy().applies(RuleId::kPrivateMember)) {
    return PyRef(RefuseNow(RuleId::kPrivateMember, "'" + module + "." + member + "' is private",
                           module + "." + member));
  }
  return GuardedMember(module, member, std::move(value));
}

// `__getattr__` of every view; self is the real module, in a capsule that Python cannot open.
PyObject* Look(PyObject* self, PyObject* name) {
  auto* real = static_cast<PyObject*>(PyCapsule_GetPointer(self, nullptr));
  if (real == nullptr) return nullptr;
  if (!PyUnicode_CheckExact(name)) {
    PyErr_SetString(PyExc_TypeError, "attribute name must be string");
    return nullptr;
  }
  PyRef value = Member(real, name);
  if (!value && PyErr_Occurred() != nullptr) return nullptr;
  PyObject* view = ViewOf(real).release();
  Py_XDECREF(view);  // the table keeps it
  if (!value) return Missing(view, real, name);
  PyRef granted = Granted(real, name, std::move(value));
  if (!granted) return nullptr;
  // Data may be assigned anew in the real module; functions, classes and modules are what they are.
  const bool constant =
      IsFunction(granted.get()) || PyType_Check(granted.get()) || PyModule_Check(granted.get());
  if (constant && PyDict_SetItem(PyModule_GetDict(view), name, granted.get()) != 0) PyErr_Clear();
  return granted.release();
}

PyObject* List(PyObject* self, PyObject* /*unused*/) {
  auto* real = static_cast<PyObject*>(PyCapsule_GetPointer(self, nullptr));
  return real != nullptr ? PyObject_Dir(real) : nullptr;
}

PyMethodDef kLook = {"__getattr__", &Look, METH_O, nullptr};
PyMethodDef kList = {"__dir__", &List, METH_NOARGS, nullptr};

PyRef NewView(PyObject* real) {
  PyObject* space = PyModule_GetDict(real);
  const PyRef name(PyUnicode_FromString(NameOf(real).c_str()));
  const PyRef inside(PyCapsule_New(real, nullptr, nullptr));
  PyRef view(name ? PyModule_NewObject(name.get()) : nullptr);
  const PyRef look(inside ? PyCFunction_New(&kLook, inside.get()) : nullptr);
  const PyRef list(inside ? PyCFunction_New(&kList, inside.get()) : nullptr);
  if (!view || !look || !list) return PyRef();
  PyObject* seen = PyModule_GetDict(view.get());
  PyDict_SetItemString(seen, "__getattr__", look.get());
  PyDict_SetItemString(seen, "__dir__", list.get());
  for (const char* copied : {"__doc__", "__file__", "__package__"}) {
    PyObject* value = PyDict_GetItemString(space, copied);
    if (value != nullptr) PyDict_SetItemString(seen, copied, value);
  }
  if (PyErr_Occurred() != nullptr) return PyRef();
  return view;
}

// `from m import *` takes names from the view's own namespace.
bool FillPublicNames(PyObject* view, PyObject* real) {
  const PyRef names(PyObject_Dir(real));
  if (!names) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names.get()); ++i) {
    PyObject* name = PyList_GET_ITEM(names.get(), i);
    if (Text(name).starts_with('_')) continue;
    PyRef value = Member(real, name);
    if (!value || (PyModule_Check(value.get()) && !Policy().Allows(NameOf(value.get())))) {
      PyErr_Clear();
      continue;
    }
    const PyRef granted = Granted(real, name, std::move(value));
    if (!granted || PyDict_SetItem(PyModule_GetDict(view), name, granted.get()) != 0) return false;
  }
  return true;
}

// Whether every name of a `from` list is a granted module below one that is not.
bool AllowsAll(const std::string& module, PyObject* names) {
  const PyRef list(names != nullptr ? PySequence_List(names) : nullptr);
  if (!list) {
    PyErr_Clear();
    return false;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
    if (!Policy().Allows(module + "." + Text(PyList_GET_ITEM(list.get(), i)))) return false;
  }
  return PyList_GET_SIZE(list.get()) > 0;
}

}  // namespace

Status PrepareModuleViews() {
  g_view_of.reserve(64);
  g_real_of.reserve(64);
  return {};
}

bool IsView(PyObject* module) { return g_real_of.contains(module); }

PyRef ViewOf(PyObject* module) {
  if (IsView(module)) {
    Py_INCREF(module);
    return PyRef(module);
  }
  PyObject*& view = g_view_of[module];
  if (view == nullptr) {
    view = NewView(module).release();
    if (view == nullptr) {
      g_view_of.erase(module);
      return PyRef();
    }
    Py_INCREF(module);
    g_real_of[view] = module;
  }
  Py_INCREF(view);
  return PyRef(view);
}

PyObject* GuardedImport(PyObject* /*self*/, PyObject* arguments, PyObject* keywords) {
  static const char* words[] = {"name", "globals", "locals", "fromlist", "level", nullptr};
  PyObject* name = nullptr;
  PyObject* globals = nullptr;
  PyObject* locals = nullptr;
  PyObject* names = nullptr;
  int level = 0;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "U|OOOi:__import__",
                                  const_cast<char**>(words), &name, &globals, &locals, &names,
                                  &level) == 0) {
    return nullptr;
  }
  const PyRef exact(
      PyUnicode_FromObject(name));  // a subclass of str may answer one thing and be another
  if (!exact) return nullptr;
  const std::string module = Text(exact.get());
  // What C code of the runtime imports while the program's frame is the innermost, as strptime
  // does: it takes the module from elsewhere, so the answer is nothing.
  const bool by_runtime = level == 0 && globals != nullptr && globals == locals &&
                          names != nullptr && PyList_CheckExact(names) &&
                          PyList_GET_SIZE(names) == 0;
  if (by_runtime) {
    const PyRef imported(PyImport_ImportModuleLevelObject(exact.get(), globals, nullptr, names, 0));
    if (!imported) return nullptr;
    Py_RETURN_NONE;
  }
  const bool granted = level > 0 || Policy().Allows(module) || AllowsAll(module, names);
  if (!granted && Policy().applies(RuleId::kImport)) return RefuseImport(module);
  const PyRef imported(
      PyImport_ImportModuleLevelObject(exact.get(), globals, locals, names, level));
  if (!imported || !PyModule_Check(imported.get())) {
    PyObject* other = imported.get();
    Py_XINCREF(other);
    return other;
  }
  const bool is_leaf = names != nullptr && names != Py_None;
  if (is_leaf && Policy().Allows(module)) g_granted.insert(imported.get());
  PyRef view = ViewOf(imported.get());
  const PyRef star(PyUnicode_FromString("*"));
  if (view && names != nullptr && PySequence_Check(names) != 0 &&
      PySequence_Contains(names, star.get()) == 1 && !FillPublicNames(view.get(), imported.get())) {
    return nullptr;
  }
  return view.release();
}

}  // namespace glovebox::zygote

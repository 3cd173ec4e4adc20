#include "python/zygote/language/name_tables.h"

#include <string>

#include "python/wire/language.h"
#include "python/zygote/language/rules.h"

namespace glovebox::zygote {
namespace {

// No program can write this name: what it would get by binding it in another way is a function of
// its own in the place of ours, not the attribute.
constexpr char kGuardName[] = ".attribute";

NameTables* g_tables = nullptr;

bool AddName(PyObject* dict, const char* name, long value) {
  PyObject* key = PyUnicode_InternFromString(name);
  const PyRef number(PyLong_FromLong(value));
  return key != nullptr && number && PyDict_SetItem(dict, key, number.get()) == 0;
}

// What the standard library is called.
bool AddStandardModules(PyObject* dict) {
  PyObject* standard = PySys_GetObject("stdlib_module_names");
  const PyRef list(standard != nullptr ? PySequence_List(standard) : nullptr);
  for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list.get()); ++i) {
    if (!AddName(dict, PyUnicode_AsUTF8(PyList_GET_ITEM(list.get(), i)), 1)) return false;
  }
  return static_cast<bool>(list);
}

}  // namespace

const NameTables& NameTables::Get() { return *g_tables; }

Status NameTables::Prepare() {
  auto* tables = new NameTables();
  tables->attributes_ = PyDict_New();
  tables->builtins_ = PyDict_New();
  tables->modules_ = PyDict_New();
  tables->standard_ = PyDict_New();
  tables->lookups_ = PyDict_New();
  tables->guard_name_ = PyUnicode_InternFromString(kGuardName);
  bool made = true;
  long index = 0;
  for (const AttributeRule& rule : AttributeRules()) {
    made = made && AddName(tables->attributes_, rule.name, index++);
  }
  for (const char* name : wire::kRefusedBuiltins)
    made = made && AddName(tables->builtins_, name, 1);
  for (const char* name : {"getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller",
                           "__getattribute__"}) {
    made = made && AddName(tables->lookups_, name, 1);
  }
  made = made && AddStandardModules(tables->standard_) &&
         PyDict_Update(tables->modules_, tables->standard_) == 0;
  // Packages that people expect as they expect the standard library.
  for (const char* name : {"numpy", "pandas", "scipy", "matplotlib", "seaborn", "sklearn",
                           "statsmodels", "plotly", "sympy", "requests", "httpx"}) {
    made = made && AddName(tables->modules_, name, 1);
  }
  if (!made) {
    return Error(Errc::kUnsupported, "preparing the language layer: " + TakePythonError());
  }
  g_tables = tables;
  return {};
}

const AttributeRule* NameTables::Attribute(PyObject* name) const {
  PyObject* index = PyDict_GetItem(attributes_, name);
  if (index == nullptr) return nullptr;
  return &AttributeRules()[static_cast<std::size_t>(PyLong_AsLong(index))];
}

bool NameTables::IsNamespaceKey(PyObject* name) const {
  const AttributeRule* rule = Attribute(name);
  return rule != nullptr &&
         (rule->rule == RuleId::kInterpreterAttribute || rule->rule == RuleId::kClassWalk);
}

}  // namespace glovebox::zygote

#include "python/zygote/language/syntax_tree.h"

#include <string>
#include <utility>

namespace glovebox::zygote {
namespace {

constexpr std::pair<std::string_view, NodeKind> kKinds[] = {
    {"If", NodeKind::kDecision},
    {"IfExp", NodeKind::kDecision},
    {"For", NodeKind::kDecision},
    {"AsyncFor", NodeKind::kDecision},
    {"While", NodeKind::kDecision},
    {"Assert", NodeKind::kDecision},
    {"match_case", NodeKind::kDecision},
    {"alias", NodeKind::kAlias},
    {"arg", NodeKind::kArg},
    {"Attribute", NodeKind::kAttribute},
    {"BoolOp", NodeKind::kBoolOp},
    {"Call", NodeKind::kCall},
    {"ClassDef", NodeKind::kClassDef},
    {"comprehension", NodeKind::kComprehension},
    {"Constant", NodeKind::kConstant},
    {"ExceptHandler", NodeKind::kExceptHandler},
    {"FunctionDef", NodeKind::kFunctionDef},
    {"AsyncFunctionDef", NodeKind::kFunctionDef},
    {"Global", NodeKind::kGlobal},
    {"Nonlocal", NodeKind::kGlobal},
    {"Import", NodeKind::kImport},
    {"ImportFrom", NodeKind::kImportFrom},
    {"MatchClass", NodeKind::kMatchClass},
    {"MatchAs", NodeKind::kMatchName},
    {"MatchStar", NodeKind::kMatchName},
    {"Name", NodeKind::kName},
    {"Subscript", NodeKind::kSubscript},
};

SyntaxTree* g_tree = nullptr;  // made once, never freed

NodeKind KindOfName(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return NodeKind::kOther;
}

PyObject* Interned(const char* name) { return PyUnicode_InternFromString(name); }

FieldNames MakeFieldNames() {
  return {.arg = Interned("arg"),
          .args = Interned("args"),
          .asname = Interned("asname"),
          .attr = Interned("attr"),
          .body = Interned("body"),
          .col_offset = Interned("col_offset"),
          .ctx = Interned("ctx"),
          .elts = Interned("elts"),
          .func = Interned("func"),
          .id = Interned("id"),
          .kwd_attrs = Interned("kwd_attrs"),
          .level = Interned("level"),
          .lineno = Interned("lineno"),
          .module = Interned("module"),
          .name = Interned("name"),
          .names = Interned("names"),
          .slice = Interned("slice"),
          .targets = Interned("targets"),
          .target = Interned("target"),
          .value = Interned("value"),
          .values = Interned("values")};
}

bool IsSubtypeOf(PyObject* object, PyObject* base) {
  return PyType_Check(object) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object),
                                                  reinterpret_cast<PyTypeObject*>(base)) != 0;
}

}  // namespace

const SyntaxTree& SyntaxTree::Get() { return *g_tree; }

void SyntaxTree::Add(PyTypeObject* type, NodeKind kind) {
  std::size_t slot = Slot(type);
  while (types_[slot] != nullptr) slot = (slot + 1) % kSlots;
  types_[slot] = type;
  kinds_[slot] = kind;
}

Status SyntaxTree::Prepare() {
  PyObject* module = PyImport_ImportModule("_ast");
  PyObject* node = module != nullptr ? PyObject_GetAttrString(module, "AST") : nullptr;
  PyObject* load = module != nullptr ? PyObject_GetAttrString(module, "Load") : nullptr;
  if (node == nullptr || load == nullptr) {
    return Error(Errc::kUnsupported, "CPython has no _ast: " + TakePythonError());
  }
  g_tree = new SyntaxTree();
  g_tree->module_ = module;
  g_tree->load_ = PyObject_CallNoArgs(load);
  g_tree->fields_ = MakeFieldNames();
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(PyModule_GetDict(module), &position, &key, &value) != 0) {
    if (!IsSubtypeOf(value, node)) continue;
    auto* type = reinterpret_cast<PyTypeObject*>(value);
    const PyRef fields(PyObject_GetAttrString(value, "_fields"));
    const bool leaf = fields && PyTuple_Check(fields.get()) && PyTuple_GET_SIZE(fields.get()) == 0;
    g_tree->Add(type, leaf ? NodeKind::kLeaf : KindOfName(PyUnicode_AsUTF8(key)));
  }
  PyErr_Clear();
  return {};
}

PyObject* SyntaxTree::Field(PyObject* node, PyObject* name) const {
  const PyRef dict(PyObject_GenericGetDict(node, nullptr));
  return dict ? PyDict_GetItem(dict.get(), name) : nullptr;  // the node keeps it
}

PyRef SyntaxTree::CallInsteadOf(PyObject* node, PyObject* callee_name) const {
  const PyRef name(PyObject_CallMethod(module_, "Name", "OO", callee_name, load_));
  const PyRef text(PyObject_CallMethod(module_, "Constant", "O", Field(node, fields_.attr)));
  if (!name || !text) return PyRef();
  PyRef call(PyObject_CallMethod(module_, "Call", "O[OO][]", name.get(), Field(node, fields_.value),
                                 text.get()));
  for (PyObject* made : {name.get(), text.get(), call.get()}) {
    for (const char* place : {"lineno", "col_offset", "end_lineno", "end_col_offset"}) {
      const PyRef number(made != nullptr ? PyObject_GetAttrString(node, place) : nullptr);
      if (!number || PyObject_SetAttrString(made, place, number.get()) != 0) return PyRef();
    }
  }
  return call;
}

}  // namespace glovebox::zygote

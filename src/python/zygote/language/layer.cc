#include "python/zygote/language/layer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "python/zygote/language/checker.h"
#include "python/zygote/language/event_watch.h"
#include "python/zygote/language/guards.h"
#include "python/zygote/language/module_view.h"
#include "python/zygote/language/name_tables.h"
#include "python/zygote/language/refusal.h"
#include "python/zygote/language/syntax_tree.h"

namespace glovebox::zygote {
namespace {

struct Layer {
  std::optional<ActivePolicy> policy;
  const std::string* code = nullptr;  // the request's
  bool validates = false;
  std::vector<wire::Finding> findings;  // of the syntax tree
  std::optional<wire::CodeAnalysis> analysis;
};
Layer g_layer;
PyObject* g_check = nullptr;
PyObject* g_is_refusal = nullptr;

// The tree counts bytes; people count characters.
void CountCharacters(std::vector<wire::Finding>& findings, std::string_view code) {
  std::size_t start = 0;
  std::int32_t line = 1;
  for (wire::Finding& finding : findings) {  // in order of their lines
    for (; line < finding.line && start < code.size(); ++line) {
      const std::size_t end = code.find('\n', start);
      start = end == std::string_view::npos ? code.size() : end + 1;
    }
    const std::string_view before =
        code.substr(start, static_cast<std::size_t>(std::max(finding.column - 1, 0)));
    for (const char c : before) {
      if ((c & 0xC0) == 0x80) --finding.column;
    }
  }
}

std::string Summary(const std::vector<wire::Finding>& findings) {
  const wire::Finding* first = nullptr;
  std::size_t refused = 0;
  for (const wire::Finding& finding : findings) {
    if (!finding.refuses_program) continue;
    if (first == nullptr) first = &finding;
    ++refused;
  }
  std::string text = "line " + std::to_string(first->line) + ": " + first->what;
  if (refused > 1) text += " (and " + std::to_string(refused - 1) + " more)";
  return text;
}

void Analyse(PyObject* tree, const Checked& checked) {
  g_layer.analysis = wire::CodeAnalysis{checked.complexity, checked.functions, checked.classes,
                                        checked.imports, TopLevelNames(tree)};
}

// check(tree, namespace) -> (names, whether the tree was rewritten): rewrites the tree, binds
// mentioned modules, or raises SecurityError.
PyObject* Check(PyObject* /*self*/, PyObject* arguments) {
  PyObject* tree = nullptr;
  PyObject* space = nullptr;
  if (PyArg_ParseTuple(arguments, "OO", &tree, &space) == 0) return nullptr;
  Checked checked = CheckTree(tree, *g_layer.policy, TreeUse::kCompiled);
  if (!checked.complete) return nullptr;
  if (g_layer.validates) Analyse(tree, checked);
  const bool refused = checked.refused && !g_layer.validates;
  // When it runs, what is only refused when reached is told when it is reached.
  if (!refused && !g_layer.validates) checked.findings.clear();
  g_layer.findings = std::move(checked.findings);
  CountCharacters(g_layer.findings, *g_layer.code);
  if (refused) {
    PyErr_SetString(SecurityErrorType(), Summary(g_layer.findings).c_str());
    return nullptr;
  }
  if (g_layer.validates) Py_RETURN_NONE;
  for (const std::string& name : checked.mentioned_modules) {
    if (PyDict_GetItemString(space, name.c_str()) != nullptr) continue;
    const PyRef module(PyImport_ImportModule(name.c_str()));
    const PyRef view = module ? ViewOf(module.get()) : PyRef();
    // Allowed, but not installed: the name stays undefined, as it would be anywhere.
    if (!view || PyDict_SetItemString(space, name.c_str(), view.get()) != 0) PyErr_Clear();
  }
  const PyRef bound(PyList_New(0));
  for (const std::string& name : checked.mentioned_modules) {
    const PyRef text(PyUnicode_FromString(name.c_str()));
    if (!bound || !text || PyList_Append(bound.get(), text.get()) != 0) return nullptr;
  }
  return bound ? PyTuple_Pack(2, bound.get(), checked.rewritten ? Py_True : Py_False) : nullptr;
}

PyObject* IsRefusalFunction(PyObject* /*self*/, PyObject* exception) {
  return PyBool_FromLong(IsRefusal(exception) ? 1 : 0);
}

PyMethodDef kCheck = {"check", &Check, METH_VARARGS, nullptr};
PyMethodDef kIsRefusal = {"is_refusal", &IsRefusalFunction, METH_O, nullptr};

}  // namespace

Status PrepareLanguageLayer() {
  TRY(SyntaxTree::Prepare());
  TRY(NameTables::Prepare());
  TRY(PrepareRefusals());
  TRY(PrepareGuards());
  TRY(PrepareModuleViews());
  g_check = PyCFunction_New(&kCheck, nullptr);
  g_is_refusal = PyCFunction_New(&kIsRefusal, nullptr);
  if (g_check == nullptr || g_is_refusal == nullptr) {
    return Error(Errc::kUnsupported, "preparing the language layer: " + TakePythonError());
  }
  return {};
}

PyRef StartLanguageLayer(const wire::RunRequest& request) {
  g_layer = {};
  g_layer.code = &request.code;
  g_layer.validates = request.action == wire::RunAction::kValidate;
  if (!request.language.enabled && !g_layer.validates) {
    Refusals().Start(nullptr);
    Py_INCREF(Py_None);
    return PyRef(Py_None);
  }
  g_layer.policy.emplace(request.language);
  Refusals().Start(&*g_layer.policy);
  PyObject* builtins = g_layer.validates ? Py_None : GuardedBuiltins();
  if (builtins == nullptr) return PyRef();
  if (!g_layer.validates) StartEventWatch();
  return PyRef(Py_BuildValue("(OOO)", g_check, builtins, g_is_refusal));
}

void FinishLanguageLayer(wire::RunResult& result) {
  if (!g_layer.policy) return;
  StopEventWatch();
  result.findings = std::move(g_layer.findings);
  for (wire::Finding& finding : Refusals().Take()) {
    if (result.findings.size() < wire::kFindingsMax) result.findings.push_back(std::move(finding));
  }
  result.analysis = std::move(g_layer.analysis);
}

}  // namespace glovebox::zygote

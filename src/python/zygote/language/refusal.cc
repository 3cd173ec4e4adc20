#include "python/zygote/language/refusal.h"

#include "python/zygote/audit_hook.h"

namespace glovebox::zygote {
namespace {

PyObject* g_security_error = nullptr;
PyObject* g_blocked_import = nullptr;
RefusalLog g_log;

// The type as the traceback shows it: without a module before its name.
PyObject* NewType(const char* name, PyObject* base) {
  const PyRef space(PyDict_New());
  const PyRef module(PyUnicode_FromString("builtins"));
  if (!space || !module || PyDict_SetItemString(space.get(), "__module__", module.get()) != 0) {
    return nullptr;
  }
  return PyErr_NewException(name, base, space.get());
}

PyRef FromUtf8(const std::string& text) {
  return PyRef(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

}  // namespace

Status PrepareRefusals() {
  g_security_error = NewType("builtins.SecurityError", PyExc_PermissionError);
  g_blocked_import = NewType("builtins.ImportError", PyExc_ImportError);
  if (g_security_error == nullptr || g_blocked_import == nullptr) {
    return Error(Errc::kUnsupported, "preparing the language layer: " + TakePythonError());
  }
  return {};
}

PyObject* SecurityErrorType() { return g_security_error; }

RefusalLog& Refusals() { return g_log; }

void RefusalLog::Add(const wire::Finding& finding, const std::string& target) {
  wire::Finding noted = finding;
  noted.refuses_program = false;
  noted.line = UserLine();
  NoteRefusal(noted.rule, target, noted.why, noted.instead);
  if (findings_.size() < wire::kFindingsMax) findings_.push_back(std::move(noted));
}

PyObject* RefuseNow(RuleId rule, const std::string& what, const std::string& target,
                    std::string_view module) {
  const wire::Finding finding = g_log.policy()->Find(rule, what, module);
  g_log.Add(finding, target);
  const PyRef message = FromUtf8(finding.what + ": " + finding.why + " (" + finding.instead + ")");
  if (message) PyErr_SetObject(g_security_error, message.get());
  return nullptr;
}

PyObject* RefuseImport(const std::string& module) {
  const wire::Finding finding =
      g_log.policy()->Find(RuleId::kImport, "Import '" + module + "' is not allowed", module);
  g_log.Add(finding, module);
  const PyRef message = FromUtf8("Import of '" + module + "' is not allowed in sandbox");
  const PyRef exception(message ? PyObject_CallOneArg(g_blocked_import, message.get()) : nullptr);
  const PyRef name = FromUtf8(module);
  if (exception && name) {
    PyObject_SetAttrString(exception.get(), "name", name.get());
    PyErr_SetObject(g_blocked_import, exception.get());
  }
  return nullptr;
}

bool IsRefusal(PyObject* exception) {
  return PyObject_TypeCheck(exception, reinterpret_cast<PyTypeObject*>(g_security_error)) != 0 ||
         Py_TYPE(exception) == reinterpret_cast<PyTypeObject*>(g_blocked_import);
}

}  // namespace glovebox::zygote

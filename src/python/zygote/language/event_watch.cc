#include "python/zygote/language/event_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "python/zygote/audit_hook.h"
#include "python/zygote/language/checker.h"
#include "python/zygote/language/name_tables.h"
#include "python/zygote/language/refusal.h"

namespace glovebox::zygote {
namespace {

struct Watch {
  PyObject* user_globals = nullptr;   // borrowed: __main__ lives as long as the process
  std::vector<std::string> readable;  // folders that belong to the runtime or to the box
  std::vector<std::string> writable;
  bool busy = false;  // this code causes events of its own
};
Watch g_watch;

// Parts of the standard library that read attributes by a name somebody else chose.
constexpr std::string_view kRelays[] = {"functools", "string",    "operator", "dataclasses",
                                        "copy",      "reprlib",   "pprint",   "contextlib",
                                        "heapq",     "statistics"};

// Parts that compile text as their own business.
constexpr std::string_view kCompilers[] = {
    "<glovebox>", "importlib", "_frozen_importlib", "_frozen_importlib_external",
    "zipimport",  "linecache", "traceback",         "inspect",
    "tokenize",   "codeop"};

// Parts that read what the kernel tells about the machine.
constexpr std::string_view kSystemReaders[] = {"platform", "os", "multiprocessing", "threading"};

std::string_view Text(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = nullptr;
  if (text != nullptr && PyUnicode_Check(text)) data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr && text != nullptr && PyBytes_Check(text)) {
    data = PyBytes_AS_STRING(text);
    size = PyBytes_GET_SIZE(text);
  }
  if (data == nullptr) PyErr_Clear();
  return data != nullptr ? std::string_view(data, static_cast<std::size_t>(size))
                         : std::string_view();
}

std::string_view TopOf(std::string_view module) { return module.substr(0, module.find('.')); }

template <typename Names>
bool In(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string_view ModuleOf(PyObject* globals) {
  PyObject* name = globals != nullptr ? PyDict_GetItemString(globals, "__name__") : nullptr;
  if (name == nullptr && globals != nullptr) name = PyDict_GetItemString(globals, "__file__");
  return Text(name);
}

bool InUserCode() { return PyEval_GetGlobals() == g_watch.user_globals; }

// The module of the innermost Python frame, whole and as a package.
std::string_view Caller() { return ModuleOf(PyEval_GetGlobals()); }

bool IsStandard(std::string_view module) {
  const std::string_view top = TopOf(module);
  const PyRef name(PyUnicode_FromStringAndSize(top.data(), static_cast<Py_ssize_t>(top.size())));
  return name && NameTables::Get().IsStandardModule(name.get());
}

// The module of the frame outside the innermost one.
std::string OuterCaller() {
  PyFrameObject* inner = PyEval_GetFrame();
  const PyRef outer(inner != nullptr ? reinterpret_cast<PyObject*>(PyFrame_GetBack(inner))
                                     : nullptr);
  if (!outer) return {};
  const PyRef globals(PyObject_GetAttrString(outer.get(), "f_globals"));
  return std::string(ModuleOf(globals.get()));
}

// What of the libraries the program's own code called: the module of the frame next to the
// innermost of the program's. Empty when none of its frames is on the stack.
std::string Entry() {
  PyFrameObject* inner = PyEval_GetFrame();
  Py_XINCREF(inner);
  PyRef frame(reinterpret_cast<PyObject*>(inner));
  std::string module;
  while (frame) {
    const PyRef globals(PyObject_GetAttrString(frame.get(), "f_globals"));
    if (!globals) break;
    if (globals.get() == g_watch.user_globals) return module.empty() ? "__main__" : module;
    module = ModuleOf(globals.get());
    frame = PyRef(reinterpret_cast<PyObject*>(
        PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.get()))));
  }
  PyErr_Clear();
  return {};
}

// A library at work for itself: it is being imported, or nobody of the program called it.
bool IsOwnBusiness(const std::string& entry) {
  return entry.empty() || TopOf(entry) == "importlib" || entry.starts_with("_frozen_importlib");
}

// --- attributes
// -----------------------------------------------------------------------------------

int WatchAttribute(PyObject* args) {
  PyObject* name = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : nullptr;
  if (name == nullptr || !PyUnicode_Check(name)) return 0;
  if (!InUserCode() && !In(kRelays, TopOf(Caller()))) return 0;
  const AttributeRule* rule = NameTables::Get().Attribute(name);
  if (rule == nullptr || rule->action != AttributeAction::kRefuse ||
      !Refusals().policy()->applies(rule->rule)) {
    return 0;
  }
  RefuseNow(rule->rule, std::string("Attribute '") + rule->name + "' is not allowed", rule->name);
  return -1;
}

// --- text that becomes code
// -------------------------------------------------------------------------

// The first objection to `source`; empty when there is none or it does not parse, which the real
// compiler will say better.
std::string Objection(const char* source, bool strict) {
  PyCompilerFlags flags = {PyCF_ONLY_AST, PY_MINOR_VERSION};
  const PyRef tree(Py_CompileStringExFlags(source, "<text>", Py_file_input, &flags, 0));
  if (!tree) {
    PyErr_Clear();
    return {};
  }
  const Checked checked = CheckTree(tree.get(), *Refusals().policy(), TreeUse::kOnlyChecked);
  if (!checked.complete) PyErr_Clear();
  for (const wire::Finding& finding : checked.findings) {
    // Packages make functions from templates of their own, with namespaces and imports in them.
    const bool of_templates =
        finding.rule == RuleOf(RuleId::kNamespace).name || !finding.refuses_program;
    if (strict || !of_templates) return finding.what;
  }
  return {};
}

int WatchCompile(PyObject* args) {
  if (!Refusals().policy()->applies(RuleId::kStringEvaluator)) return 0;
  const std::string caller(Caller());
  if (In(kCompilers, TopOf(caller)) || In(kCompilers, caller)) return 0;
  // ast.parse only parses; what evaluates the tree afterwards is its caller's business.
  if (caller == "ast" && IsStandard(OuterCaller())) return 0;
  if (IsOwnBusiness(Entry())) return 0;
  PyObject* source = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  const std::string text(Text(source));
  if (text.empty() || text.find('\0') != std::string::npos) return 0;
  g_watch.busy = true;
  const std::string objection = Objection(text.c_str(), IsStandard(caller) || InUserCode());
  g_watch.busy = false;
  if (objection.empty()) return 0;
  RefuseNow(RuleId::kStringEvaluator, "Text evaluated by '" + caller + "': " + objection,
            text.substr(0, 200));
  return -1;
}

// --- files
// ----------------------------------------------------------------------------------------

bool Under(const std::vector<std::string>& folders, std::string_view path) {
  return std::any_of(folders.begin(), folders.end(), [path](const std::string& folder) {
    return path.starts_with(folder) &&
           (path.size() == folder.size() || folder.back() == '/' || path[folder.size()] == '/');
  });
}

bool PathIsFine(std::string_view path, bool writes) {
  if (path.find("..") != std::string_view::npos && path.find("/../") != std::string_view::npos) {
    return false;
  }
  if (!path.starts_with('/')) return !path.starts_with("..");
  if (Under(g_watch.writable, path)) return true;
  if (writes) return path == "/dev/null";
  if (Under(g_watch.readable, path)) return true;
  const bool about_the_system = path.starts_with("/proc/") || path.starts_with("/sys/");
  return about_the_system && (!IsStandard(Caller()) || In(kSystemReaders, TopOf(Caller())));
}

int WatchOpen(PyObject* args) {
  const ActivePolicy& policy = *Refusals().policy();
  if (policy.Grants("open") || !policy.applies(RuleId::kFile)) return 0;
  const std::string_view path = Text(PyTuple_GET_ITEM(args, 0));
  if (path.empty()) return 0;  // a descriptor
  long flags = 0;
  if (PyTuple_GET_SIZE(args) > 2 && PyLong_Check(PyTuple_GET_ITEM(args, 2))) {
    flags = PyLong_AsLong(PyTuple_GET_ITEM(args, 2));
  }
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
  if (PathIsFine(path, writes)) return 0;
  // Packages have configuration and data of their own; what they may read is the kernel's business.
  const std::string entry = Entry();
  if (!writes && (IsOwnBusiness(entry) || (entry != "__main__" && !IsStandard(entry)))) return 0;
  RefuseNow(RuleId::kFile, "File '" + std::string(path.substr(0, 200)) + "' is not allowed",
            std::string(path));
  return -1;
}

// --- the rest
// -------------------------------------------------------------------------------------

int WatchPickle(PyObject* args) {
  const ActivePolicy& policy = *Refusals().policy();
  if (!policy.applies(RuleId::kPickle) || PyTuple_GET_SIZE(args) < 2) return 0;
  const std::string module(Text(PyTuple_GET_ITEM(args, 0)));
  PyObject* name = PyTuple_GET_ITEM(args, 1);
  const bool harmless_builtin = module == "builtins" && PyUnicode_Check(name) &&
                                !NameTables::Get().IsRefusedBuiltin(name) &&
                                !NameTables::Get().IsLookup(name) && Text(name) != "__import__";
  if (harmless_builtin || !IsStandard(module) || policy.Allows(module) || module == "copyreg" ||
      module == "_codecs" || module == "__main__") {
    return 0;
  }
  RefuseNow(RuleId::kPickle,
            "A pickle of '" + module + "." + std::string(Text(name)) + "' is not allowed", module,
            module);
  return -1;
}

int WatchEffect(const char* event) {
  const ActivePolicy& policy = *Refusals().policy();
  if (!policy.applies(RuleId::kSystemCall) || !InUserCode()) return 0;
  for (const EffectRule& rule : EffectRules()) {
    if (std::strncmp(event, rule.event_prefix, std::strlen(rule.event_prefix)) != 0) continue;
    if (policy.Allows(rule.module)) return 0;
    RefuseNow(RuleId::kSystemCall, std::string("Operation '") + event + "' is not allowed", event,
              rule.module);
    return -1;
  }
  return 0;
}

int OnEvent(const char* event, PyObject* args) {
  if (g_watch.busy) return 0;
  if (std::strcmp(event, "object.__getattr__") == 0) return WatchAttribute(args);
  if (std::strcmp(event, "compile") == 0) return WatchCompile(args);
  if (std::strcmp(event, "open") == 0) return WatchOpen(args);
  if (std::strcmp(event, "pickle.find_class") == 0) return WatchPickle(args);
  return WatchEffect(event);
}

}  // namespace

void StartEventWatch() {
  PyObject* main = PyDict_GetItemString(PyImport_GetModuleDict(), "__main__");
  g_watch = {};
  g_watch.user_globals = main != nullptr ? PyModule_GetDict(main) : nullptr;
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof(folder)) != nullptr && folder[1] != '\0') {
    g_watch.writable.emplace_back(folder);
  }
  for (const char* path : {"/tmp", "/dev/shm"}) g_watch.writable.emplace_back(path);
  for (const char* path : {"/usr", "/lib", "/lib64", "/etc/localtime", "/etc/mime.types",
                           "/dev/null", "/dev/urandom", "/dev/random"}) {
    g_watch.readable.emplace_back(path);
  }
  PyObject* paths = PySys_GetObject("path");
  for (Py_ssize_t i = 0; paths != nullptr && i < PyList_GET_SIZE(paths); ++i) {
    const std::string_view path = Text(PyList_GET_ITEM(paths, i));
    if (path.starts_with('/') && path.size() > 1) g_watch.readable.emplace_back(path);
  }
  SetEventWatch(&OnEvent);
}

void StopEventWatch() { SetEventWatch(nullptr); }

}  // namespace glovebox::zygote

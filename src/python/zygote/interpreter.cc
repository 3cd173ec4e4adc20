#include "python/zygote/interpreter.h"

#include <grp.h>
#include <marshal.h>
#include <netdb.h>
#include <pwd.h>

#include <span>
#include <vector>

#include "embedded/prelude.h"
#include "python/zygote/audit_hook.h"
#include "python/zygote/compile_program.h"
#include "python/zygote/language/layer.h"
#include "sandbox/plan/walls.h"

namespace glovebox::zygote {
namespace {

constexpr char kPreludeFile[] = "<glovebox>";

PyObject* g_prelude = nullptr;  // the prelude's namespace; lives as long as the process
bool g_numpy = false;           // imported ahead: its generator is seeded anew in each fork

Error PythonFailed(const std::string& act) {
  return Error(Errc::kUnsupported, act + ": " + TakePythonError());
}

// Frees what a PyConfig holds, whichever way we leave.
struct ScopedConfig {
  PyConfig config;
  ScopedConfig() { PyConfig_InitIsolatedConfig(&config); }
  ScopedConfig(const ScopedConfig&) = delete;
  ScopedConfig& operator=(const ScopedConfig&) = delete;
  ~ScopedConfig() { PyConfig_Clear(&config); }
};

// sys.path is ours whole; CPython's own guess, which it needs to find its standard library, goes.
Status SetModulePaths(const wire::ZygoteSetup& setup) {
  std::vector<std::string> paths = {setup.work_folder, setup.stdlib, setup.stdlib + "/lib-dynload"};
  paths.insert(paths.end(), setup.module_paths.begin(), setup.module_paths.end());
  const PyRef list(PyList_New(0));
  for (const std::string& path : paths) {
    const PyRef item(PyUnicode_DecodeFSDefault(path.c_str()));
    if (!list || !item || PyList_Append(list.get(), item.get()) != 0) {
      return PythonFailed("setting sys.path");
    }
  }
  if (PySys_SetObject("path", list.get()) != 0) return PythonFailed("setting sys.path");
  return {};
}

Status Initialize() {
  PyPreConfig preconfig;
  PyPreConfig_InitIsolatedConfig(&preconfig);
  preconfig.utf8_mode = 1;
  if (PyStatus_Exception(Py_PreInitialize(&preconfig)) != 0) {
    return Error(Errc::kUnsupported, "CPython: pre-initialisation failed");
  }
  ScopedConfig scoped;
  PyConfig& config = scoped.config;
  config.site_import = 0;  // .pth files and sitecustomize are code we did not choose
  config.write_bytecode = 0;
  config.install_signal_handlers = 1;  // Ctrl-C semantics and SIGPIPE as a program expects them
  config.buffered_stdio = 1;
  // Where CPython looks for its standard library, instead of guessing from names and PATH.
  PyConfig_SetString(&config, &config.home, L"/usr");
  PyConfig_SetString(&config, &config.stdio_encoding, L"utf-8");
  PyConfig_SetString(&config, &config.stdio_errors, L"surrogateescape");
  PyConfig_SetString(&config, &config.program_name, L"python3");
  PyConfig_SetString(&config, &config.executable, L"");
  const PyStatus status = Py_InitializeFromConfig(&config);
  if (PyStatus_Exception(status) != 0) {
    const char* reason = status.err_msg != nullptr ? status.err_msg : "unknown reason";
    return Error(Errc::kUnsupported, std::string("CPython does not start: ") + reason);
  }
  return {};
}

// Runs a file of the prelude, compiled when this program was built, in a namespace of its own.
Result<PyRef> RunPrelude(std::span<const unsigned char> bytecode) {
  if (PyImport_GetMagicNumber() != embedded::kBytecodeMagic) {
    return Error(Errc::kUnsupported, "glovebox-python was built with another version of Python");
  }
  const PyRef code(PyMarshal_ReadObjectFromString(reinterpret_cast<const char*>(bytecode.data()),
                                                  static_cast<Py_ssize_t>(bytecode.size())));
  if (!code) return PythonFailed("loading the prelude");
  PyRef globals(PyDict_New());
  const PyRef file(PyUnicode_FromString(kPreludeFile));
  if (!globals || !file || PyDict_SetItemString(globals.get(), "__file__", file.get()) != 0 ||
      PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins()) != 0) {
    return PythonFailed("preparing the prelude");
  }
  const PyRef done(PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  if (!done) return PythonFailed("running the prelude");
  return globals;
}

// The first look-ups of a C library ask a cache daemon over a socket, which the filter refuses in a
// box and records as an event. Asked here, in vain, it does not ask again for a hundred look-ups,
// also in forks.
void SettleNameLookups() {
  ::getpwuid(0);              // NOLINT(concurrency-mt-unsafe): one thread
  ::getgrgid(0);              // NOLINT(concurrency-mt-unsafe)
  ::getservbyport(0, "tcp");  // NOLINT(concurrency-mt-unsafe)
  addrinfo* found = nullptr;
  if (::getaddrinfo("localhost", nullptr, nullptr, &found) == 0) ::freeaddrinfo(found);
}

}  // namespace

PyObject* PreludeFunction(const char* name) { return PyDict_GetItemString(g_prelude, name); }

PyObject* ValuesPrelude() {
  static PyObject* values = nullptr;
  if (values == nullptr) {
    Result<PyRef> loaded = RunPrelude(embedded::kValuesPrelude);
    if (loaded) values = loaded->release();
  }
  return values;
}

std::string TakePythonError() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const PyRef owned_type(type);
  const PyRef owned_value(value);
  const PyRef owned_trace(trace);
  if (type == nullptr) return "no exception";
  std::string text = reinterpret_cast<PyTypeObject*>(type)->tp_name;
  const PyRef shown(value != nullptr ? PyObject_Str(value) : nullptr);
  const char* utf8 = shown ? PyUnicode_AsUTF8(shown.get()) : nullptr;
  PyErr_Clear();
  return utf8 != nullptr ? text + ": " + utf8 : text;
}

Status StartInterpreter(const wire::ZygoteSetup& setup) {
  const auto walls = sandbox::Walls::FromTrustedBits(setup.walls);
  const bool refuses = walls.stands(sandbox::Wall::kInterpreter);
  if (refuses) InstallAuditHook();
  TRY(Initialize());
  TRY(SetModulePaths(setup));
  g_prelude = TRY(RunPrelude(embedded::kRuntimePrelude)).release();
  const PyRef compile = MakeCompileProgram();
  if (!compile || PyDict_SetItemString(g_prelude, "compile_program", compile.get()) != 0) {
    return PythonFailed("preparing the prelude");
  }
  // Here, where no language layer watches what is compiled.
  if (ValuesPrelude() == nullptr) return PythonFailed("loading the prelude's values");
  const PyRef done(
      PyObject_CallFunction(PreludeFunction("set_up"), "O", refuses ? Py_True : Py_False));
  if (!done) return PythonFailed("setting up the prelude");
  for (const std::string& name : setup.preimports) {
    const PyRef module(PyImport_ImportModule(name.c_str()));
    if (!module) return PythonFailed("importing '" + name + "' ahead of requests");
  }
  g_numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy.random") != nullptr;
  TRY(PrepareLanguageLayer());
  SettleNameLookups();
  return {};
}

Status AfterFork() {
  PyOS_AfterFork_Child();
  if (!g_numpy) return {};
  const PyRef reseeded(PyObject_CallNoArgs(PreludeFunction("reseed_numpy")));
  if (!reseeded) return PythonFailed("reseeding");
  return {};
}

Status FreezeHeap() {
  const PyRef gc(PyImport_ImportModule("gc"));
  const PyRef frozen(gc ? PyObject_CallMethod(gc.get(), "freeze", nullptr) : nullptr);
  if (!frozen) return PythonFailed("freezing the heap");
  return {};
}

}  // namespace glovebox::zygote

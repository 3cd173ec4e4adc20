#include "python/zygote/run_cell.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "python/zygote/audit_hook.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/language/layer.h"
#include "python/zygote/value_convert.h"

namespace glovebox::zygote {
namespace {

// Untrusted code has not run yet; a limit that cannot be set is reported, not ignored. The kernel
// lets nobody here raise one: what it refuses for that is in force already, and lower.
bool Lower(int resource, std::uint64_t value) {
  const rlimit limit = {value, value};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 || errno == EPERM;
}

// What the interpreter already occupies of RLIMIT_DATA: the sixth number of statm, in pages.
std::uint64_t DataBytesNow() {
  const std::string statm = ReadFile("/proc/self/statm").value_or("");
  unsigned long pages = 0;
  if (std::sscanf(statm.c_str(), "%*u %*u %*u %*u %*u %lu", &pages) != 1) return 0;
  return std::uint64_t{pages} * 4096;
}

std::uint64_t g_data_bytes = 0;  // of the interpreter alone

bool ApplyLimits(const wire::RunRequest& request) {
  if (request.data_bytes_max != 0 && !Lower(RLIMIT_DATA, g_data_bytes + request.data_bytes_max)) {
    return false;
  }
  if (request.processes_max != 0 && !Lower(RLIMIT_NPROC, request.processes_max)) return false;
  return request.cpu_seconds_max == 0 || Lower(RLIMIT_CPU, request.cpu_seconds_max);
}

wire::RunResult OwnFailure(const wire::RunRequest& request, const std::string& reason) {
  wire::RunResult result;
  result.nonce = request.nonce;
  result.ending = wire::Ending::kRaised;
  result.exit_code = 1;
  result.error = {"RuntimeError", "the box's runtime failed: " + reason, {}, 0, 0, {}};
  return result;
}

// For the C library, and for os.environ when somebody has imported os already.
bool SetEnvironment(const wire::RunRequest& request) {
  if (request.environment.empty()) return true;
  PyObject* os = PyDict_GetItemString(PyImport_GetModuleDict(), "os");
  const PyRef environ(os != nullptr ? PyObject_GetAttrString(os, "environ") : nullptr);
  for (const auto& [name, value] : request.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    const PyRef text(PyUnicode_DecodeFSDefault(value.c_str()));
    if (!text) return false;
    if (environ && PyMapping_SetItemString(environ.get(), name.c_str(), text.get()) != 0) {
      return false;
    }
  }
  return true;
}

PyRef BuildArguments(const wire::RunRequest& request, PyObject* language) {
  const PyRef argv(PyList_New(0));
  for (const std::string& text : request.argv) {
    const PyRef item(
        PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
    if (!argv || !item || PyList_Append(argv.get(), item.get()) != 0) return PyRef();
  }
  const PyRef globals = ToPython({request.globals});
  if (!argv || !globals) return PyRef();
  return PyRef(Py_BuildValue("(y#sOOO)", request.code.data(),
                             static_cast<Py_ssize_t>(request.code.size()), request.filename.c_str(),
                             argv.get(), globals.get(), language));
}

std::string TextItem(PyObject* tuple, Py_ssize_t index, std::size_t bytes_max) {
  return StrText(PyTuple_GET_ITEM(tuple, index), bytes_max);
}

// The names that the program made: those of the first container that are in no other. Only strings
// are looked at, whose comparison runs nothing of the program.
void ReadNames(PyObject* containers, wire::RunResult& result) {
  PyObject* space = PyTuple_GET_ITEM(containers, 0);
  PyObject* name = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(space, &at, &name, nullptr) != 0;) {
    if (!PyUnicode_CheckExact(name)) continue;
    bool made = true;
    for (Py_ssize_t i = 1; made && i < PyTuple_GET_SIZE(containers); ++i) {
      made = PySequence_Contains(PyTuple_GET_ITEM(containers, i), name) == 0;
    }
    if (!made) continue;
    if (result.variables.size() == wire::kVariablesMax) break;
    result.variables.push_back(StrText(name, wire::kMessageBytesMax));
  }
}

// The tuple that prelude/runtime.py's run() returns.
void ReadAnswer(PyObject* answer, wire::RunResult& result) {
  result.ending = static_cast<wire::Ending>(PyLong_AsLong(PyTuple_GET_ITEM(answer, 0)));
  result.exit_code = static_cast<std::int32_t>(PyLong_AsLong(PyTuple_GET_ITEM(answer, 1)));
  PlainValue value = FromPython(PyTuple_GET_ITEM(answer, 2));
  result.value = std::move(value.data);
  result.value_text = std::move(value.text);
  result.value_notes = std::move(value.notes);
  PyObject* shown = PyTuple_GET_ITEM(answer, 3);
  if (shown != Py_None) result.value_repr = ReprText(shown, wire::kReprBytesMax);
  ReadNames(PyTuple_GET_ITEM(answer, 4), result);
  PyObject* error = PyTuple_GET_ITEM(answer, 5);
  if (error == Py_None) return;
  result.error.type = TextItem(error, 0, wire::kMessageBytesMax);
  result.error.message = TextItem(error, 1, wire::kMessageBytesMax);
  result.error.traceback = TextItem(error, 2, wire::kTracebackBytesMax);
  result.error.line = static_cast<std::int32_t>(PyLong_AsLong(PyTuple_GET_ITEM(error, 3)));
  result.error.offset = static_cast<std::int32_t>(PyLong_AsLong(PyTuple_GET_ITEM(error, 4)));
  result.error.text = TextItem(error, 5, wire::kSourceLineBytesMax);
}

// Whatever user code left in buffers, Python's and C's, belongs into the pipes before the result.
void FlushEverything() {
  static PyObject* const flush = PyUnicode_InternFromString("flush");
  PyObject* own = nullptr;
  for (const char* name : {"__stdout__", "stdout", "__stderr__", "stderr"}) {
    PyObject* stream = PySys_GetObject(name);
    if (stream == nullptr || stream == Py_None || stream == own) continue;
    own = stream;  // often the next one, too
    const PyRef done(PyObject_CallMethodNoArgs(stream, flush));
    if (!done) PyErr_Clear();  // closed or replaced by user code: nothing of ours is lost
  }
  std::fflush(nullptr);
}

const char* Act(const wire::RunRequest& request) {
  return request.action == wire::RunAction::kValidate ? "validate" : "run";
}

}  // namespace

void MeasureInterpreter() { g_data_bytes = DataBytesNow(); }

wire::RunResult RunCell(const wire::RunRequest& request, sandbox::Walls walls) {
  if (walls.stands(sandbox::Wall::kRlimits) && !ApplyLimits(request))
    return OwnFailure(request, "a limit cannot be set");
  if (request.merged_output && ::dup3(1, 2, 0) < 0) {
    return OwnFailure(request, "stderr cannot be merged into stdout");
  }
  if (!SetEnvironment(request)) return OwnFailure(request, TakePythonError());
  const PyRef language = StartLanguageLayer(request);
  const PyRef arguments = language ? BuildArguments(request, language.get()) : PyRef();
  if (!arguments) return OwnFailure(request, TakePythonError());
  const pid_t self = ::getpid();
  StartAuditing(request.filename);
  const PyRef answer(PyObject_CallObject(PreludeFunction(Act(request)), arguments.get()));
  wire::RunResult result;
  if (answer && PyTuple_CheckExact(answer.get()) && PyTuple_GET_SIZE(answer.get()) == 6) {
    ReadAnswer(answer.get(), result);
  } else {
    result = OwnFailure(request, TakePythonError());
  }
  PyErr_Clear();
  // After the value was taken, which the end of the program may destroy.
  if (request.last) {
    const PyRef finished(PyObject_CallNoArgs(PreludeFunction("finish")));
    PyErr_Clear();
  }
  FlushEverything();
  // A fork that user code made and let run to the end of its program: it has no say here.
  if (::getpid() != self) ::_exit(result.exit_code);
  FinishLanguageLayer(result);
  const AuditRecord record = StopAuditing();
  result.events = record.events;
  result.events_dropped = record.dropped;
  result.nonce = request.nonce;
  return result;
}

}  // namespace glovebox::zygote

#include "python/zygote/audit_hook.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>


namespace glovebox::zygote {
namespace {

using Clock = std::chrono::steady_clock;

enum class Reaction : std::uint8_t { kNote, kRefuse };

struct Rule {
  std::string_view event;  // CPython's name for it
  Reaction reaction;
  int target_index;      // which audit argument names the target; -1 for none
  const char* sentence;  // what the exception says
  const char* remedy;    // what would allow it
};

constexpr const char* kNoPrograms =
    "a box cannot run programs; use Python, threads, or multiprocessing with the 'fork' start "
    "method";
constexpr const char* kNoNetwork = "this box has no network";
constexpr const char* kNothing = "nothing allows it";

constexpr Rule kRules[] = {
    {"subprocess.Popen", Reaction::kRefuse, 1, kNoPrograms, kNothing},
    {"os.system", Reaction::kRefuse, 0, kNoPrograms, kNothing},
    {"os.exec", Reaction::kRefuse, 0, kNoPrograms, kNothing},
    {"os.posix_spawn", Reaction::kRefuse, 0, kNoPrograms, kNothing},
    {"os.spawn", Reaction::kRefuse, 1, kNoPrograms, kNothing},
    {"pty.spawn", Reaction::kRefuse, 0, kNoPrograms, kNothing},
    {"socket.getaddrinfo", Reaction::kRefuse, 0, kNoNetwork, kNothing},
    {"socket.gethostbyname", Reaction::kRefuse, 0, kNoNetwork, kNothing},
    {"socket.gethostbyaddr", Reaction::kRefuse, 0, kNoNetwork, kNothing},
    {"socket.connect", Reaction::kRefuse, 1, kNoNetwork, kNothing},
    {"socket.bind", Reaction::kRefuse, 1, kNoNetwork, kNothing},
    {"socket.sendto", Reaction::kRefuse, 1, kNoNetwork, kNothing},
    {"ctypes.dlopen", Reaction::kNote, 0, "", "allowed: native code meets the kernel's walls"},
};

struct State {
  bool active = false;
  std::string user_file;
  EventWatch watch = nullptr;
  Clock::time_point start;
  AuditRecord record;
};
State g_state;

// Text of an audit argument without running any code of the user's.
std::string Describe(PyObject* object) {
  if (object == nullptr || object == Py_None) return {};
  if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8(object);
    if (text == nullptr) PyErr_Clear();
    return text != nullptr ? text : "<text>";
  }
  if (PyBytes_Check(object)) {
    return std::string(PyBytes_AS_STRING(object),
                       static_cast<std::size_t>(PyBytes_GET_SIZE(object)));
  }
  if (PyLong_CheckExact(object)) return std::to_string(PyLong_AsLong(object));
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    std::string joined;
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
    for (Py_ssize_t i = 0; i < size && i < 16; ++i) {
      if (i > 0) joined += ' ';
      joined += Describe(PySequence_Fast_GET_ITEM(object, i));
    }
    return joined;
  }
  return Py_TYPE(object)->tp_name;
}

int InnermostUserLine() {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  int line = 0;
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    const bool users = file != nullptr && g_state.user_file == file;
    if (users) line = PyFrame_GetLineNumber(frame);
    Py_DECREF(code);
    PyFrameObject* back = users ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return line;
}

void Note(std::string_view operation, std::string target, Reaction reaction, std::string remedy) {
  if (g_state.record.events.size() >= wire::kEventsMax) {
    ++g_state.record.dropped;
    return;
  }
  target.resize(std::min(target.size(), std::size_t{512}));
  const double seconds = std::chrono::duration<double>(Clock::now() - g_state.start).count();
  g_state.record.events.push_back({seconds, std::string(operation), std::move(target),
                                   InnermostUserLine(), reaction == Reaction::kRefuse, remedy});
}

// Raises PermissionError(EPERM, sentence): an OSError, as the kernel's refusal would be.
int Refuse(std::string_view operation, const std::string& target, const char* sentence) {
  std::string text(sentence);
  text += " (" + std::string(operation);
  if (!target.empty()) text += ": " + target.substr(0, 200);
  text += "; nothing allows it)";
  const PyRef message(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  const PyRef arguments(message ? Py_BuildValue("(iO)", EPERM, message.get()) : nullptr);
  if (arguments) PyErr_SetObject(PyExc_PermissionError, arguments.get());
  return -1;
}

// A pair of connected AF_UNIX sockets stays inside the box; every other socket would lead out.
int JudgeSocket(PyObject* args) {
  if (PyTuple_GET_SIZE(args) < 2) return 0;
  PyObject* family = PyTuple_GET_ITEM(args, 1);
  const long number = PyLong_Check(family) ? PyLong_AsLong(family) : 0;
  if (number == AF_UNIX || number == -1) return 0;
  const std::string target = "family " + std::to_string(number);
  Note("socket", target, Reaction::kRefuse, kNothing);
  return Refuse("socket", target, kNoNetwork);
}

int Hook(const char* event, PyObject* args, void* /*unused*/) {
  if (!g_state.active) return 0;
  if (g_state.watch != nullptr && g_state.watch(event, args) != 0) return -1;
  // Only these families interest us; the first letter sorts out nearly every other event.
  if (std::strchr("socp", event[0]) == nullptr) return 0;
  if (std::strcmp(event, "socket.__new__") == 0) return JudgeSocket(args);
  for (const Rule& rule : kRules) {
    if (rule.event != event) continue;
    std::string target;
    if (rule.target_index >= 0 && rule.target_index < PyTuple_GET_SIZE(args)) {
      target = Describe(PyTuple_GET_ITEM(args, rule.target_index));
    }
    // dlopen(NULL) is a program asking for itself.
    if (rule.reaction == Reaction::kNote && target.empty()) return 0;
    Note(rule.event, target, rule.reaction, rule.remedy);
    return rule.reaction == Reaction::kRefuse ? Refuse(rule.event, target, rule.sentence) : 0;
  }
  return 0;
}

}  // namespace

int UserLine() { return InnermostUserLine(); }

void NoteRefusal(const std::string& operation, const std::string& target,
                 const std::string& remedy) {
  Note(operation, target, Reaction::kRefuse, remedy);
}

void SetEventWatch(EventWatch watch) { g_state.watch = watch; }

void InstallAuditHook() { PySys_AddAuditHook(&Hook, nullptr); }

void StartAuditing(const std::string& user_file) {
  g_state.user_file = user_file;
  g_state.start = Clock::now();
  g_state.record = {};
  g_state.active = true;
}

AuditRecord StopAuditing() {
  g_state.active = false;
  g_state.watch = nullptr;
  return std::move(g_state.record);
}

}  // namespace glovebox::zygote

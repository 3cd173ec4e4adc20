#include "python/zygote/audit_hook.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "python/zygote/audit_rules.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
  bool active = false;
  bool network = false;
  std::string user_file;
  EventWatch watch = nullptr;
  GrantedFolders folders;
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

// Who caused an event.
struct Caller {
  int line = 0;            // of the innermost frame in the user's file; 0 when there is none
  bool importing = false;  // a module of the runtime does it while it is imported
  bool users = false;      // code that the user brought is behind it
  bool packages = false;   // an installed package does it, on the user's behalf
};

enum class FrameKind : std::uint8_t { kRuntime, kImport, kUsers };

// Code of the runtime lies in its read-only folders or is frozen into it; whatever else runs is the
// user's: the program, what it compiles, modules it wrote.
FrameKind KindOf(std::string_view file) {
  if (file.starts_with("<frozen importlib")) return FrameKind::kImport;
  if (file.starts_with("<frozen ") || file.starts_with("<glovebox")) return FrameKind::kRuntime;
  if (!file.starts_with('/') || file == g_state.user_file) return FrameKind::kUsers;
  return g_state.folders.InWritable(file) ? FrameKind::kUsers : FrameKind::kRuntime;
}

bool InPackage(std::string_view file) {
  return file.find("/dist-packages/") != file.npos || file.find("/site-packages/") != file.npos;
}

Caller FindCaller() {
  Caller caller;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  bool found = false;
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* text = PyUnicode_AsUTF8(code->co_filename);
    const std::string_view file = text != nullptr ? text : "";
    const FrameKind kind = KindOf(file);
    if (kind == FrameKind::kUsers) caller.users = true;
    if (kind == FrameKind::kImport && !caller.users) caller.importing = true;
    if (kind == FrameKind::kRuntime && !caller.users && InPackage(file)) caller.packages = true;
    found = file == g_state.user_file;
    if (found) caller.line = PyFrame_GetLineNumber(frame);
    Py_DECREF(code);
    PyFrameObject* back = found ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return caller;
}

void Record(std::string_view operation, std::string target, int line, Reaction reaction,
            std::string rule, std::string remedy) {
  if (g_state.record.events.size() >= wire::kEventsMax) {
    ++g_state.record.dropped;
    return;
  }
  target.resize(std::min(target.size(), std::size_t{512}));
  const double seconds = std::chrono::duration<double>(Clock::now() - g_state.start).count();
  g_state.record.events.push_back({seconds, std::string(operation), std::move(target), line,
                                   reaction == Reaction::kRefuse, std::move(rule),
                                   std::move(remedy)});
}

void Note(std::string_view operation, std::string target, Reaction reaction, const char* rule,
          const char* remedy) {
  for (const QuietAttempt& quiet : kQuietAttempts) {
    if (quiet.event == operation && quiet.target == target) return;
  }
  // What the runtime tries for itself while it is imported is nobody's attempt.
  const Caller caller = FindCaller();
  if (caller.importing || !caller.users) return;
  // Nor is what a package does with its own libraries; a file it opens may be of the user's choice.
  if (caller.packages && reaction == Reaction::kNote && operation.starts_with("ctypes.")) return;
  Record(operation, std::move(target), caller.line, reaction, rule, remedy);
}

// Raises PermissionError(EPERM, sentence): an OSError, as the kernel's refusal would be.
int Refuse(std::string_view operation, const std::string& target, const char* rule,
           const char* remedy) {
  std::string text(rule);
  text += " (" + std::string(operation);
  if (!target.empty()) text += ": " + target.substr(0, 200);
  text += std::string("; ") + remedy + ")";
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
  if (g_state.network && (number == AF_INET || number == AF_INET6)) return 0;
  const std::string target = "family " + std::to_string(number);
  Note("socket", target, Reaction::kRefuse, kNoNetwork, kNothingAllows);
  return Refuse("socket", target, kNoNetwork, kNothingAllows);
}

// Empty where it lies too deep to have a name. The bare call: libc would then look for the name
// folder by folder.
std::string CurrentFolder() {
  char folder[4096];
  return ::syscall(SYS_getcwd, folder, sizeof(folder)) > 0 ? folder : "";
}

// Only noted: the kernel answers as it does to every program, and most look for files in vain.
void JudgePath(std::string_view operation, PyObject* path, bool writes) {
  if (!PyUnicode_Check(path) && !PyBytes_Check(path)) return;  // a descriptor is open already
  const std::string name = Describe(path);
  const bool database = operation == "sqlite3.connect";
  if (name.empty() || (database && (name == ":memory:" || name.starts_with("file:")))) return;
  const bool absolute = name.starts_with('/');
  // The current folder was judged when it was entered, and what is below it with it.
  if (!absolute && name.find("..") == name.npos) return;
  const std::string here = absolute ? "" : CurrentFolder();
  if ((!absolute && here.empty()) || g_state.folders.Allows(name, here, writes)) return;
  Note(operation, name, Reaction::kNote, writes ? kWritableFolders : kReadableFolders,
       writes ? kWriteRemedy : kReadRemedy);
}

// open(path, mode, flags)
void JudgeOpen(PyObject* args) {
  if (PyTuple_GET_SIZE(args) < 3) return;
  PyObject* flags = PyTuple_GET_ITEM(args, 2);
  const long bits = PyLong_Check(flags) ? PyLong_AsLong(flags) : 0;
  JudgePath("open", PyTuple_GET_ITEM(args, 0), (bits & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0);
}

int JudgeByTable(std::string_view event, PyObject* args) {
  const auto argument = [args](int index) {
    return index >= 0 && index < PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, index) : nullptr;
  };
  for (const PathRule& rule : kPathRules) {
    if (rule.event != event) continue;
    if (PyObject* path = argument(rule.path_index)) JudgePath(rule.event, path, rule.writes);
    return 0;
  }
  for (const AuditRule& rule : kAuditRules) {
    if (rule.event != event) continue;
    if (g_state.network && rule.rule == kNoNetwork) return 0;
    std::string target = Describe(argument(rule.target_index));
    if (target.empty() && rule.event == "ctypes.dlopen") target = "the program itself";
    Note(rule.event, target, rule.reaction, rule.rule, rule.remedy);
    return rule.reaction == Reaction::kRefuse ? Refuse(rule.event, target, rule.rule, rule.remedy)
                                              : 0;
  }
  return 0;
}

int Hook(const char* event, PyObject* args, void* /*unused*/) {
  if (!g_state.active) return 0;
  if (g_state.watch != nullptr && g_state.watch(event, args) != 0) return -1;
  // Only these families interest us; the first letter sorts out nearly every other event.
  if (std::strchr("chopsruw", event[0]) == nullptr) return 0;
  if (std::strcmp(event, "open") == 0) {
    JudgeOpen(args);
    return 0;
  }
  if (std::strcmp(event, "socket.__new__") == 0) return JudgeSocket(args);
  return JudgeByTable(event, args);
}

}  // namespace

int UserLine() { return FindCaller().line; }

void NoteRefusal(const std::string& operation, const std::string& target, const std::string& rule,
                 const std::string& remedy) {
  Record(operation, target, FindCaller().line, Reaction::kRefuse, rule, remedy);
}

void SetEventWatch(EventWatch watch) { g_state.watch = watch; }

void InstallAuditHook() { PySys_AddAuditHook(&Hook, nullptr); }

void SetGrantedFolders(GrantedFolders folders) { g_state.folders = std::move(folders); }

void GrantFolder(const std::string& folder) { g_state.folders.Add(folder); }

void AllowNetwork() { g_state.network = true; }

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

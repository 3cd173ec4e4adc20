#pragma once

// What the audit hook looks for, as data.

#include <cstdint>
#include <string_view>

namespace glovebox::zygote {

enum class Reaction : std::uint8_t { kNote, kRefuse };

// One of CPython's audit events (docs.python.org, "Audit events table").
struct AuditRule {
  std::string_view event;
  Reaction reaction;
  int target_index;    // which argument names the target; -1 for none
  const char* rule;    // what is decided by; the exception's sentence, too
  const char* remedy;  // what would allow it
};

inline constexpr const char* kNothingAllows = "nothing allows it";
inline constexpr const char* kNoPrograms =
    "a box cannot run programs; use Python, threads, or multiprocessing with the 'fork' start "
    "method";
inline constexpr const char* kNoNetwork = "this box has no network";
inline constexpr const char* kNativeCode = "native code is not the interpreter's to judge";
inline constexpr const char* kNeedsNothing = "allowed: the kernel's walls hold native code, too";
inline constexpr const char* kOwnLimits = "limits can be lowered, never raised";
inline constexpr const char* kHigherLimits = "the call's own memory_limit and timeout";

inline constexpr AuditRule kAuditRules[] = {
    {"subprocess.Popen", Reaction::kRefuse, 1, kNoPrograms, kNothingAllows},
    {"os.system", Reaction::kRefuse, 0, kNoPrograms, kNothingAllows},
    {"os.exec", Reaction::kRefuse, 0, kNoPrograms, kNothingAllows},
    {"os.posix_spawn", Reaction::kRefuse, 0, kNoPrograms, kNothingAllows},
    {"os.spawn", Reaction::kRefuse, 1, kNoPrograms, kNothingAllows},
    {"pty.spawn", Reaction::kRefuse, 0, kNoPrograms, kNothingAllows},
    {"webbrowser.open", Reaction::kRefuse, 0, kNoPrograms, kNothingAllows},
    {"socket.getaddrinfo", Reaction::kRefuse, 0, kNoNetwork, kNothingAllows},
    {"socket.gethostbyname", Reaction::kRefuse, 0, kNoNetwork, kNothingAllows},
    {"socket.gethostbyaddr", Reaction::kRefuse, 0, kNoNetwork, kNothingAllows},
    {"socket.connect", Reaction::kRefuse, 1, kNoNetwork, kNothingAllows},
    {"socket.bind", Reaction::kRefuse, 1, kNoNetwork, kNothingAllows},
    {"socket.sendto", Reaction::kRefuse, 1, kNoNetwork, kNothingAllows},
    {"urllib.Request", Reaction::kNote, 0, kNoNetwork, kNothingAllows},
    {"http.client.connect", Reaction::kRefuse, 1, kNoNetwork, kNothingAllows},
    {"ctypes.dlopen", Reaction::kNote, 0, kNativeCode, kNeedsNothing},
    {"ctypes.string_at", Reaction::kNote, -1, kNativeCode, kNeedsNothing},
    {"ctypes.wstring_at", Reaction::kNote, -1, kNativeCode, kNeedsNothing},
    {"sqlite3.load_extension", Reaction::kNote, 1, kNativeCode, kNeedsNothing},
    {"resource.setrlimit", Reaction::kNote, 0, kOwnLimits, kHigherLimits},
};

// Attempts of the runtime's own that ordinary programs cause: refused as ever, and no event.
struct QuietAttempt {
  std::string_view event;
  std::string_view target;
};

inline constexpr QuietAttempt kQuietAttempts[] = {
    {"subprocess.Popen", "uname -p"},  // platform.processor() asks, and does without
};

// Events that name a path: noted when it lies outside of what the box was given.
struct PathRule {
  std::string_view event;
  int path_index;
  bool writes;
};

inline constexpr PathRule kPathRules[] = {
    {"os.listdir", 0, false}, {"os.scandir", 0, false},     {"os.chdir", 0, false},
    {"os.remove", 0, true},   {"os.rename", 1, true},       {"os.mkdir", 0, true},
    {"os.rmdir", 0, true},    {"os.link", 1, true},         {"os.symlink", 1, true},
    {"os.chmod", 0, true},    {"os.chown", 0, true},        {"os.truncate", 0, true},
    {"os.utime", 0, true},    {"sqlite3.connect", 0, true},
};

inline constexpr const char* kReadableFolders =
    "a box holds the Python runtime and its own folders: /work, /tmp, /dev/shm";
inline constexpr const char* kWritableFolders = "only /work, /tmp and /dev/shm can be written";
inline constexpr const char* kReadRemedy =
    "SANDBOX_READ_PATHS of glovebox serve, for calls with the profile `filesystem`";
inline constexpr const char* kWriteRemedy =
    "SANDBOX_WRITE_PATHS of glovebox serve, for calls with the profile `filesystem`";

}  // namespace glovebox::zygote

#include "sandbox/child/jail_init.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

// As getdents64 writes it.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

constexpr std::size_t kNameMax = 16;  // of a process, the kernel's bound
constexpr char kCommFile[] = "/comm";

// 0 for a name that is no number.
AFTER_FORK pid_t NumberOf(const char* name) noexcept {
  pid_t number = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return 0;
    number = number * 10 + (*name - '0');
  }
  return number;
}

// Appends the name of the process to the record, if there is room.
AFTER_FORK void AddName(int proc_fd, const char* pid, JailEnd& end) noexcept {
  char path[32] = {};
  const std::size_t digits = strlen(pid);
  if (digits + sizeof(kCommFile) > sizeof(path)) return;
  memcpy(path, pid, digits);  // NOLINT(bugprone-not-null-terminated-result): what follows ends it
  memcpy(path + digits, kCommFile, sizeof(kCommFile));
  const long fd = syscall(SYS_openat, proc_fd, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char name[kNameMax + 1] = {};
  const long got = syscall(SYS_read, fd, name, kNameMax);
  syscall(SYS_close, fd);
  if (got <= 1) return;
  const auto length = static_cast<std::size_t>(got) - 1;  // without the line's end
  const std::size_t used = strlen(end.names);
  const std::size_t comma = used == 0 ? 0 : 2;
  if (used + comma + length + 1 > sizeof(end.names)) return;
  if (comma != 0) memcpy(end.names + used, ", ", comma);
  memcpy(end.names + used + comma, name, length);
}

// Everything that is still alive besides us, by its name.
AFTER_FORK void NoteTheRest(JailEnd& end) noexcept {
  const long proc_fd = syscall(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc_fd < 0) return;
  alignas(DirectoryEntry) char buffer[4096];
  while (true) {
    const long got = syscall(SYS_getdents64, proc_fd, buffer, sizeof(buffer));
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      if (NumberOf(entry->name) > 1) AddName(static_cast<int>(proc_fd), entry->name, end);
      at += entry->length;
    }
  }
  syscall(SYS_close, proc_fd);
}

AFTER_FORK std::uint64_t Microseconds(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

AFTER_FORK JailEnd AwaitProgram(pid_t program) noexcept {
  JailEnd end = {};
  while (true) {
    int status = 0;
    rusage usage = {};
    const long pid = syscall(SYS_wait4, -1, &status, __WALL, &usage);
    if (pid == program) {
      end.wait_status = status;
      end.cpu_us = Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime);
      return end;
    }
    if (pid < 0 && errno != EINTR) {  // unreachable while the program is our child
      end.wait_status = SIGKILL;
      return end;
    }
  }
}

}  // namespace

AFTER_FORK void RunJailInit(int status_fd, pid_t program) noexcept {
  const DescriptorMove keep = {status_fd, 0};
  ArrangeDescriptors(&keep, 1, 1);
  JailEnd end = AwaitProgram(program);
  // Those that have ended already, and only wait to be reaped, were not left behind.
  while (syscall(SYS_wait4, -1, nullptr, __WALL | WNOHANG, nullptr) > 0) {
  }
  NoteTheRest(end);
  syscall(SYS_kill, -1, SIGKILL);
  while (true) {
    const long pid = syscall(SYS_wait4, -1, nullptr, __WALL, nullptr);
    if (pid > 0) ++end.left_behind;
    if (pid < 0 && errno != EINTR) break;
  }
  const long ignored = syscall(SYS_write, 0, &end, sizeof(end));
  static_cast<void>(ignored);  // nobody left to tell
  _exit(0);
}

}  // namespace glovebox::sandbox

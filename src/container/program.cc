#include "container/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/text.h"
#include "base/unique_fd.h"

namespace glovebox::container {
namespace {

constexpr std::size_t kOutputBytesMax = 65536;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's two lists, freed whichever way we leave.
struct SpawnLists {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnLists() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnLists(const SpawnLists&) = delete;
  SpawnLists& operator=(const SpawnLists&) = delete;
  ~SpawnLists() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
};

Result<pid_t> Start(const std::vector<std::string>& arguments, int output_fd) {
  SpawnLists lists;
  ::posix_spawn_file_actions_addopen(&lists.actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&lists.actions, output_fd, 1);
  ::posix_spawn_file_actions_adddup2(&lists.actions, output_fd, 2);
  ::posix_spawnattr_setpgroup(&lists.attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&lists.attributes, &none);
  sigset_t reset;
  sigemptyset(&reset);
  sigaddset(&reset, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&lists.attributes, &reset);
  ::posix_spawnattr_setflags(
      &lists.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(ProgramEnvironment());
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, arguments.front().c_str(), &lists.actions,
                                  &lists.attributes, argv.data(), envp.data());
  if (error != 0) return Error::FromErrno("starting " + arguments.front(), error);
  return pid;
}

std::string ReadOutput(int fd) {
  std::string text(kOutputBytesMax, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

const std::vector<std::string>& ProgramEnvironment() {
  static const std::vector<std::string> environment = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
      "HOME=/nonexistent"};
  return environment;
}

std::string FindProgram(const std::string& name) {
  // Read once, before there are threads. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* path = std::getenv("PATH");
  const std::string folders = (path != nullptr ? std::string(path) + ":" : std::string()) +
                              "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const std::string_view folder : Split(folders, ':')) {
    if (!folder.starts_with('/')) continue;
    std::string candidate = std::string(folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

Result<ProgramEnd> RunProgram(const std::vector<std::string>& arguments,
                              std::chrono::milliseconds patience) {
  // A file and not a pipe: what the program leaves behind may keep its output open.
  const UniqueFd output(::memfd_create("output", MFD_CLOEXEC));
  if (!output) return Error::FromErrno("memfd_create", errno);
  const pid_t pid = TRY(Start(arguments, output.get()));
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  ProgramEnd end;
  pollfd watched = {pidfd.get(), POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    const int got = ::poll(&watched, 1, std::max<int>(static_cast<int>(rest.count()), 0));
    if (got < 0 && errno == EINTR) continue;
    end.in_time = got > 0;
    break;
  }
  if (!end.in_time) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.output = ReadOutput(output.get());
  return end;
}

}  // namespace glovebox::container

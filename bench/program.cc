#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/unique_fd.h"
#include "child_arguments.h"

namespace glovebox::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{5000};
constexpr std::size_t kReasonMax = 160;

// Everything until the other side closes; nothing when that takes too long.
bool ReadToEnd(int fd, std::string& text) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) <= 0) return false;
    std::array<char, 4096> buffer{};
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// The last line that was written to `fd`, which is what programs call their reason.
std::string LastLine(int fd) {
  std::string text(65536, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(got < 0 ? 0 : got));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (const std::size_t line = text.rfind('\n'); line != std::string::npos) text.erase(0, line + 1);
  if (text.size() > kReasonMax) text.resize(kReasonMax);
  return text;
}

std::string HowItEnded(int status) {
  return WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                           : "ended by signal " + std::to_string(WTERMSIG(status));
}

}  // namespace

Status RunProgram(const std::vector<std::string>& arguments, const std::string& output) {
  if (::access(arguments[0].c_str(), X_OK) != 0) {
    return Error(Errc::kUnsupported, "there is no " + arguments[0]);
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return Error::FromErrno("pipe2", errno);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const UniqueFd complaints(::memfd_create("stderr", MFD_CLOEXEC));
  if (!complaints) return Error::FromErrno("memfd_create", errno);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, complaints.get(), 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, arguments[0].c_str(), &actions, &attributes,
                                  ChildArguments(arguments).data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Error::FromErrno("starting " + arguments[0], error);
  write_end.reset();

  std::string printed;
  const bool ended = ReadToEnd(read_end.get(), printed);
  if (!ended) ::kill(-pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!ended) return Error(Errc::kSystem, "no end within 5 s; " + LastLine(complaints.get()));
  if (status != 0) {
    return Error(Errc::kSystem, HowItEnded(status) + "; " + LastLine(complaints.get()));
  }
  if (printed != output) return Error(Errc::kSystem, "printed '" + printed + "'");
  return {};
}

}  // namespace glovebox::bench

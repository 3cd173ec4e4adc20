#include "piped_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "child_arguments.h"

namespace glovebox::bench {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;

}  // namespace

Result<PipedProgram> PipedProgram::Start(const std::vector<std::string>& arguments) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) < 0) return Error::FromErrno("pipe2", errno);
  const UniqueFd in_read(in[0]);
  UniqueFd in_write(in[1]);
  if (::pipe2(out.data(), O_CLOEXEC) < 0) return Error::FromErrno("pipe2", errno);
  UniqueFd out_read(out[0]);
  const UniqueFd out_write(out[1]);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in_read.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, out_write.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments[0].c_str(), &actions, nullptr,
                                   ChildArguments(arguments).data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Error::FromErrno("starting " + arguments[0], error);
  return PipedProgram(pid, std::move(in_write), std::move(out_read));
}

PipedProgram::~PipedProgram() {
  if (pid_ == 0) return;
  in_.reset();
  ::waitpid(pid_, nullptr, 0);
}

Status PipedProgram::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(in_.get(), bytes.data(), bytes.size());
    if (written < 0) return Error::FromErrno("writing to the server", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status PipedProgram::ReadMore() {
  // Not cleared for each read: on a small machine the server waits meanwhile.
  static thread_local std::array<char, kReadBytes> chunk;
  const ssize_t got = ::read(out_.get(), chunk.data(), chunk.size());
  if (got < 0) return Error::FromErrno("reading from the server", errno);
  if (got == 0) return Error(Errc::kSystem, "the server has ended");
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  return {};
}

}  // namespace glovebox::bench

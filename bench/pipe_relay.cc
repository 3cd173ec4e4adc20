// pipe_relay COMMAND...: passes bytes between its own standard input and output and those of a
// command, and does nothing else: what a relay costs at least.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace {

// False at the end of `from`.
bool Pass(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(from, buffer.data(), buffer.size());
  for (ssize_t done = 0; done < got;) {
    const ssize_t wrote = ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
    if (wrote <= 0) return false;
    done += wrote;
  }
  return got > 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::array<int, 2> in;
  std::array<int, 2> out;
  if (argc < 2 || ::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    std::fputs("usage: pipe_relay COMMAND...\n", stderr);
    return 2;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execvp(argv[1], argv + 1);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  std::array<pollfd, 2> watched = {{{0, POLLIN, 0}, {out[0], POLLIN, 0}}};
  while (watched[1].fd >= 0 && ::poll(watched.data(), watched.size(), -1) > 0) {
    if (watched[0].revents != 0 && !Pass(0, in[1])) {
      watched[0].fd = -1;
      ::close(in[1]);
    }
    if (watched[1].revents != 0 && !Pass(out[0], 1)) watched[1].fd = -1;
  }
  ::waitpid(child, nullptr, 0);
  return 0;
}

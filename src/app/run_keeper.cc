#include "app/run_keeper.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "jail/run.h"

namespace glovebox {
namespace {

// Everything that ends a process by default and can be passed on.
sigset_t PassedOn() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    sigaddset(&set, signal);
  }
  return set;
}

int Await(pid_t worker) {
  sigset_t set = PassedOn();
  sigaddset(&set, SIGCHLD);
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(worker, &status, WNOHANG);
    if (ended == worker) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (ended < 0 && errno != EINTR) return jail::kExitOurFailure;
    int signal = 0;
    if (::sigwait(&set, &signal) == 0 && signal != SIGCHLD) ::kill(worker, signal);
  }
}

}  // namespace

int RunKept(const std::function<int(pid_t client)>& work) {
  const pid_t client = ::getppid();
  const pid_t keeper = ::getpid();
  sigset_t blocked = PassedOn();
  sigaddset(&blocked, SIGCHLD);
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t worker = ::fork();
  if (worker < 0) return work(client);
  if (worker > 0) {
    // Its ends alone tell the client that the program has closed them.
    for (int fd = 0; fd <= 1; ++fd) ::close(fd);
    return Await(worker);
  }
  // The signals of the terminal go to the keeper, which passes them on once.
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, jail::kKeeperDiedSignal, 0, 0, 0);
  sigset_t death;
  sigemptyset(&death);
  sigaddset(&death, jail::kKeeperDiedSignal);
  sigaddset(&death, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::sigprocmask(SIG_BLOCK, &death, nullptr);
  if (::getppid() != keeper) ::raise(jail::kKeeperDiedSignal);
  ::_exit(work(client));
}

}  // namespace glovebox

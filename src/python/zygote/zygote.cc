#include "python/zygote/zygote.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "python/wire/descriptor_passing.h"
#include "python/wire/zygote.h"
#include "python/zygote/audit_hook.h"
#include "python/zygote/box.h"
#include "python/zygote/granted_folders.h"
#include "python/zygote/heap_pages.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/rehearsal.h"
#include "python/zygote/run_cell.h"
#include "python/zygote/text_pages.h"

namespace glovebox::zygote {
namespace {

constexpr int kRehearsals = 20;  // CPython specialises code after some 8 runs of it

// fork() is safe only while no other thread may hold a lock.
Status RequireSingleThreaded() {
  DIR* tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return Error::FromErrno("opening /proc/self/task", errno);
  int count = 0;
  while (const dirent* entry = ::readdir(tasks)) {  // NOLINT(concurrency-mt-unsafe): own stream
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(tasks);
  if (count == 1) return {};
  return Error(Errc::kInvalidArgument, "a module imported ahead of requests started " +
                                           std::to_string(count - 1) +
                                           " thread(s); boxes cannot be forked from it");
}

// The interpreter learns from its standard descriptors what kind of streams it has. In a box they
// are pipes, so it must meet pipes here.
Status PutPipesOnStdio() {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    return Error::FromErrno("making pipes", errno);
  }
  if (::dup3(in[0], 0, 0) < 0 || ::dup3(out[1], 1, 0) < 0) {
    return Error::FromErrno("placing pipes", errno);
  }
  for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
  return {};
}

// Boxes may have our uid: nobody looks into us. And what a killed init leaves comes to us.
void HoldWithoutNamespaces() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

// What a rehearsal prints goes nowhere.
Status PutNullOnStdout() {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null || ::dup3(null.get(), 1, 0) < 0) return Error::FromErrno("opening /dev/null", errno);
  return {};
}

Status Warm(const wire::ZygoteSetup& setup) {
  SetGrantedFolders(GrantedBy(setup));
  if (!setup.network_ports.empty()) AllowNetwork();
  TRY(PutPipesOnStdio());
  if (setup.rehearse) {
    MoveTextToHugePages();
    PrepareHeap();
  }
  TRY(StartInterpreter(setup));
  if (setup.rehearse) {
    TRY(PutNullOnStdout());
    // Here too, until nothing changes any more: what runs leave behind (caches, specialised
    // bytecode) is then shared, and a box copies fewer pages of it.
    for (int i = 0; i < kRehearsals; ++i) {
      PyOS_BeforeFork();
      TRY(AfterFork());
      TRY(Rehearse(RehearsalPlace::kZygote));
    }
  }
  TRY(FreezeHeap());
  if (setup.rehearse) SettleHeap();
  MeasureInterpreter();
  return RequireSingleThreaded();
}

class Zygote {
 public:
  Zygote(int socket_fd, const wire::ZygoteSetup& setup)
      : socket_fd_(socket_fd), makers_(setup.makers), template_(setup) {
    template_.OpenRulePaths();
  }

  int Run() {
    if (!template_.plan().mode.namespaces) return ServeAndReap();
    return makers_ > 1 ? ServeByMakers() : ServeAll();
  }

 private:
  // A birth keeps its maker waiting, so forks of ours make the boxes, and each takes the next order
  // when it is free: a message of the socket goes to one of them. We only wait. The end of one ends
  // all of us, because nobody else would know of the order it had.
  int ServeByMakers() {
    for (int i = 0; i < makers_; ++i) {
      PyOS_BeforeFork();
      const pid_t maker = ::fork();
      PyOS_AfterFork_Parent();  // in it, too: it goes on as we would have
      if (maker < 0) return 1;
      if (maker > 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      ::_exit(ServeAll());
    }
    ::close(socket_fd_);
    ::waitpid(-1, nullptr, 0);
    return 0;
  }

  // The kernel reaps: nothing of a box outlives its init.
  int ServeAll() {
    struct sigaction forget = {};
    forget.sa_handler = SIG_DFL;
    forget.sa_flags = SA_NOCLDWAIT;
    if (::sigaction(SIGCHLD, &forget, nullptr) != 0) return 1;
    while (Serve()) {
    }
    return 0;
  }

  // Without namespaces: every end of an init is looked at.
  int ServeAndReap() {
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child_signal, nullptr);
    const UniqueFd signals(::signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals) return 1;
    pollfd watched[] = {{socket_fd_, POLLIN, 0}, {signals.get(), POLLIN, 0}};
    while (true) {
      if (::poll(watched, 2, -1) < 0 && errno != EINTR) return 1;
      if (watched[1].revents != 0) {
        Reap(signals.get());
        EndOrphans();
      }
      if (watched[0].revents != 0 && !Serve()) return 0;
    }
  }

  static void Reap(int signal_fd) {
    signalfd_siginfo info;
    while (::read(signal_fd, &info, sizeof(info)) > 0) {
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  // What the init of a box leaves when it is killed comes to us. Inits are in
  // our own process group, everything else is in its box's.
  static void EndOrphans() {
    std::istringstream children(ReadFile("/proc/thread-self/children").value_or(""));
    for (pid_t child = 0; children >> child;) {
      const pid_t group = ::getpgid(child);
      if (group > 0 && group != ::getpgrp()) ::kill(-group, SIGKILL);
    }
  }

  // One message. False when the server is gone.
  bool Serve() {
    wire::ReceivedMessage message;
    const int error = wire::ReceiveWithDescriptors(socket_fd_, message);
    const BoxDescriptors descriptors(std::move(message.fds));
    if (error != 0 || message.payload.empty()) return false;
    const std::optional<wire::SpawnBox> spawn = wire::DecodeSpawnBox(message.payload);
    if (!spawn || !descriptors.complete(*spawn)) return false;
    const Result<UniqueFd> init = ForkBox(template_, *spawn, descriptors);
    const wire::BoxBorn born{spawn->box_id, init ? 0 : init.error().sys_errno()};
    std::vector<int> sent;
    if (init) sent.push_back(init->get());
    return wire::SendWithDescriptors(socket_fd_, wire::Encode(born), sent) == 0;
  }

  int socket_fd_;
  int makers_;
  BoxTemplate template_;
};

}  // namespace

int RunZygote(int socket_fd) {
  wire::ReceivedMessage message;
  if (wire::ReceiveWithDescriptors(socket_fd, message) != 0) return 1;
  const std::optional<wire::ZygoteSetup> setup = wire::DecodeZygoteSetup(message.payload);
  if (!setup) return 1;
  if (!setup->namespaces) HoldWithoutNamespaces();
  const auto start = std::chrono::steady_clock::now();
  wire::ZygoteReady ready;
  if (Status warm = Warm(*setup); !warm) ready.error = warm.error().message();
  ready.import_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (wire::SendWithDescriptors(socket_fd, wire::Encode(ready), {}) != 0) return 1;
  if (!ready.error.empty()) return 1;
  return Zygote(socket_fd, *setup).Run();
}

}  // namespace glovebox::zygote

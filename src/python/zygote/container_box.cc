#include "python/zygote/container_box.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "python/wire/descriptor_passing.h"
#include "python/wire/zygote.h"
#include "python/zygote/audit_hook.h"
#include "python/zygote/box.h"
#include "python/zygote/gate.h"
#include "python/zygote/granted_folders.h"
#include "python/zygote/interpreter.h"
#include "python/zygote/rehearsal.h"
#include "python/zygote/run_cell.h"
#include "sandbox/child/box_init.h"
#include "sandbox/child/enter_box.h"
#include "sandbox/child/lockdown.h"
#include "sandbox/plan/walls.h"

namespace glovebox::zygote {
namespace {

using sandbox::Wall;
using sandbox::Walls;

constexpr int kGateFd = 3;
constexpr int kAboveMoves = 16;  // no descriptor is moved into a place that another still has
// CPython specialises code after some 8 runs of it; a container's start can afford them.
constexpr int kRehearsals = 10;

Status LiftDescriptor(int& fd) {
  const int lifted = ::fcntl(fd, F_DUPFD_CLOEXEC, kAboveMoves);
  if (lifted < 0) return Error::FromErrno("duplicating a descriptor", errno);
  ::close(fd);
  fd = lifted;
  return {};
}

// What a rehearsal prints goes nowhere; afterwards stdout is what it was.
Status RehearseInSilence() {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const UniqueFd real(::fcntl(1, F_DUPFD_CLOEXEC, kAboveMoves));
  if (!null || !real || ::dup3(null.get(), 1, 0) < 0) {
    return Error::FromErrno("silencing stdout", errno);
  }
  for (int i = 0; i < kRehearsals; ++i) TRY(Rehearse(RehearsalPlace::kNextBox));
  if (::dup3(real.get(), 1, 0) < 0) return Error::FromErrno("restoring stdout", errno);
  return {};
}

Status Failed(const char* act, int error) {
  return error == 0 ? Status() : Status(Error::FromErrno(act, error));
}

// The runtime's walls stand around us; these are the box's own, inside. No supervisor listens to
// a container's system calls, so the filter answers by itself.
Status Lock(const wire::ZygoteSetup& setup, const sandbox::BoxPlan& plan) {
  sandbox::BoxPlan unfiltered = plan;
  unfiltered.walls &= ~(1u << static_cast<unsigned>(Wall::kSeccomp));
  int ruleset_fd = -1;
  int no_listener = -1;
  sandbox::ChildFailure failure = sandbox::MakeRules(unfiltered, &ruleset_fd);
  if (!failure.failed()) failure = sandbox::LockPython(unfiltered, ruleset_fd, &no_listener);
  if (failure.failed()) return Error::FromErrno("locking Python", failure.sys_errno);
  if (!Walls::FromTrustedBits(setup.walls).stands(Wall::kSeccomp)) return {};
  return Failed("installing the system-call filter",
                sandbox::ApplyFilterAlone(plan.filter, plan.filter_length));
}

Status Prepare(const wire::ZygoteSetup& setup, const BoxDescriptors& descriptors) {
  // Every source lies above these places.
  const sandbox::DescriptorMove moves[] = {{descriptors.stdin_fd(), 0},
                                           {descriptors.stdout_fd(), 1},
                                           {descriptors.stderr_fd(), 2},
                                           {descriptors.gate_fd(), kGateFd}};
  for (const sandbox::DescriptorMove& move : moves) {
    if (::dup3(move.from, move.to, 0) < 0) return Error::FromErrno("placing descriptors", errno);
  }
  TRY(Failed("clearing the signal mask", sandbox::ClearSignalMask()));
  SetGrantedFolders(GrantedBy(setup));
  TRY(StartInterpreter(setup));
  if (setup.rehearse) TRY(RehearseInSilence());
  MeasureInterpreter();
  return {};
}

// Closes everything from `first` on, by name: gVisor's close_range does not take an open end.
Status CloseFrom(int first) {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return Error::FromErrno("opening /proc/self/fd", errno);
  std::vector<int> open;
  while (const dirent* entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe): own stream
    const int fd = std::atoi(entry->d_name);
    if (fd >= first && fd != ::dirfd(folder)) open.push_back(fd);
  }
  ::closedir(folder);
  for (const int fd : open) ::close(fd);
  return {};
}

[[noreturn]] void BecomePython(int socket_fd, const wire::ZygoteSetup& setup,
                               const BoxDescriptors& descriptors) {
  const BoxTemplate common(setup);
  Status ready = Prepare(setup, descriptors);
  // The socket goes where its number is known, and with it everything else that is not Python's.
  constexpr int kSocketPlace = kGateFd + 1;
  if (ready && ::dup3(socket_fd, kSocketPlace, O_CLOEXEC) == kSocketPlace) {
    ready = CloseFrom(kSocketPlace + 1);
    socket_fd = kSocketPlace;
  }
  if (ready) ready = Lock(setup, common.plan());
  const wire::ZygoteReady answer = {ready ? "" : ready.error().message(), 0};
  const int sent = wire::SendWithDescriptors(socket_fd, wire::Encode(answer), {});
  if (!ready || sent != 0) ::_exit(126);
  ::close(socket_fd);
  ServeGate(kGateFd, Walls::FromTrustedBits(setup.walls), UniqueFd());
}

std::uint64_t Microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

// Reaps whoever has ended; ends when that is Python.
void Reap(pid_t python, int status_fd) {
  int status = 0;
  rusage usage = {};
  for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0;) {
    if (pid != python) continue;
    sandbox::StatusRecord record = {};
    record.kind = sandbox::StatusKind::kEnded;
    record.wait_status = status;
    record.cpu_us = Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime);
    sandbox::ReportStatus(status_fd, record);
    ::_exit(0);  // as process 1: takes everything in the container along
  }
}

[[noreturn]] void WatchOver(pid_t python, int socket_fd, int status_fd, int signal_fd) {
  pollfd watched[] = {{socket_fd, POLLIN, 0}, {signal_fd, POLLIN, 0}};
  while (true) {
    if (::poll(watched, std::size(watched), -1) < 0 && errno != EINTR) ::_exit(1);
    if (watched[1].revents != 0) {
      signalfd_siginfo info;
      while (::read(signal_fd, &info, sizeof(info)) > 0) {
      }
      Reap(python, status_fd);
    }
    // Nothing more is said here: the server is gone.
    if (watched[0].revents != 0) ::_exit(0);
  }
}

}  // namespace

int CallServer(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  const int socket_fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (length < sizeof(address.sun_path)) std::memcpy(address.sun_path, path, length);
  if (socket_fd >= 0 &&
      ::connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return socket_fd;
  }
  std::perror(path);
  return -1;
}

int RunContainerBox(int socket_fd) {
  if (socket_fd < 0) return 1;
  wire::ReceivedMessage message;
  if (wire::ReceiveWithDescriptors(socket_fd, message) != 0) return 1;
  for (int& fd : message.fds) {
    if (!LiftDescriptor(fd)) return 1;
  }
  if (!LiftDescriptor(socket_fd)) return 1;
  const BoxDescriptors descriptors(std::move(message.fds));
  const std::optional<wire::ZygoteSetup> setup = wire::DecodeZygoteSetup(message.payload);
  if (!setup || !descriptors.complete({})) return 1;
  // Nobody in the container may look into us: not our memory, not our descriptors.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &child_signal, nullptr);
  const UniqueFd signals(::signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return 1;
  const pid_t python = ::fork();
  if (python < 0) return 1;
  if (python == 0) BecomePython(socket_fd, *setup, descriptors);
  for (const int fd : {descriptors.stdin_fd(), descriptors.stdout_fd(), descriptors.stderr_fd(),
                       descriptors.gate_fd()}) {
    ::close(fd);
  }
  WatchOver(python, socket_fd, descriptors.status_fd(), signals.get());
}

}  // namespace glovebox::zygote

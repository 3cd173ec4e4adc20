#include "jail/box.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/pipe.h"
#include "base/socket_pair.h"
#include "sandbox/compile/filters.h"
#include "sandbox/parent/jail_spawn.h"
#include "sandbox/parent/listeners.h"

namespace glovebox::jail {
namespace {

using sandbox::ChildFailure;
using sandbox::ChildStage;
using sandbox::IdentitySource;

constexpr std::uint32_t kProcessSlack = 8;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The listener of the program's filter, and who it is.
struct Hello {
  UniqueFd listener;
  pid_t pid = 0;
};

Result<Hello> ReceiveHello(int socket) {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))> control;
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) {
    return Error(Errc::kSystem, "the program's process ended before it was locked");
  }
  Hello hello;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
      hello.listener.reset(fd);
    } else if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred who = {};
      std::memcpy(&who, CMSG_DATA(header), sizeof(who));
      hello.pid = who.pid;
    }
  }
  return hello;
}

Error FailureText(const ChildFailure& failure, const Layout& layout, const BoxOrder& order) {
  switch (failure.stage) {
    case ChildStage::kProbe:
      return Error(Errc::kInvalidArgument, layout.DescribeProbe(failure.detail, failure.sys_errno));
    case ChildStage::kMountSources:
    case ChildStage::kRootEntry:
      return Error::FromErrno(
          sandbox::StageName(failure.stage) + " " + layout.DescribeEntry(failure.detail),
          failure.sys_errno);
    case ChildStage::kExec:
      return Error::FromErrno("executing " + order.executable, failure.sys_errno);
    default: return Error::FromErrno(sandbox::StageName(failure.stage), failure.sys_errno);
  }
}

// Nothing: the program runs. Precondition: something can be read.
std::optional<Error> ReadFailure(int fd, const Layout& layout, const BoxOrder& order) {
  ChildFailure failure;
  ssize_t got = 0;
  do {
    got = ::read(fd, &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  if (got != sizeof(failure)) return Error(Errc::kInternal, "the child sent half a record");
  return FailureText(failure, layout, order);
}

// Waits for the program's hello or for a failure before it.
Result<Hello> AwaitHello(int socket, int failure_fd, const Layout& layout, const BoxOrder& order) {
  while (true) {
    std::array<pollfd, 2> watched = {{{socket, POLLIN, 0}, {failure_fd, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      return Error::FromErrno("waiting for the program", errno);
    }
    if ((watched[0].revents & POLLIN) != 0) return ReceiveHello(socket);
    if (watched[1].revents == 0) continue;
    if (const auto error = ReadFailure(failure_fd, layout, order)) return *error;
    return Error(Errc::kSystem, "the program's process ended before it was locked");
  }
}

Result<SocketPair> MakeHelloSockets() {
  SocketPair sockets = TRY(MakeSocketPair("the listener's socket"));
  const int on = 1;
  if (::setsockopt(sockets.ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    return Error::FromErrno("making the listener's socket", errno);
  }
  return sockets;
}

std::vector<sandbox::LimitEntry> Limits(const BoxOrder& order, const policy::BoxPolicy& policy) {
  std::vector<sandbox::LimitEntry> limits;
  for (const policy::RlimitItem& item : policy.rlimits)
    limits.push_back({item.resource, item.value});
  limits.push_back({RLIMIT_NOFILE, order.open_files_max});
  // The cgroup's limit is to be met first, because it counts its refusals and this one does not.
  limits.push_back({RLIMIT_NPROC, order.limits.processes_max + kProcessSlack});
  return limits;
}

// Without a way out the box has no network but an empty one; with one it makes another, with lo.
std::uint64_t Namespaces(const sandbox::HostMode& mode) {
  return CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
         (mode.user_namespaces() ? CLONE_NEWUSER : 0);
}

}  // namespace

Result<RunningBox> StartBox(const BoxOrder& order, const Layout& layout,
                            const policy::BoxPolicy& policy, HostShare& host, BoxPlace& place,
                            sandbox::CallWatcher& watcher,
                            const std::shared_ptr<sandbox::CallJudge>& judge) {
  const sandbox::HostMode mode = host.mode();
  const std::span<const sock_filter> filter =
      host.metered() ? ServerFilterWithoutCgroup() : ServerFilter();
  if (filter.empty()) {
    return Error(Errc::kUnsupported, "there is no system-call filter for this processor");
  }
  Pipe input = TRY(MakePipe());
  Pipe output = TRY(MakePipe());
  Pipe error = TRY(MakePipe());
  Pipe status = TRY(MakePipe());
  Pipe failure = TRY(MakePipe());
  Pipe ready = TRY(MakePipe());
  SocketPair hello_sockets = TRY(MakeHelloSockets());
  const std::vector<char*> argv = Pointers(order.arguments);
  const std::vector<char*> envp = Pointers(order.environment);
  const std::vector<sandbox::LimitEntry> limits = Limits(order, policy);
  const std::uint32_t uid = host.BoxUid(place);
  const std::string map = "1000 " + std::to_string(uid) + " 1";

  sandbox::JailPlan plan;
  plan.failure_fd = failure.write.get();
  plan.parent_ready_fd = ready.read.get();
  plan.switch_identity = mode.own_uids();
  if (mode.identity == IdentitySource::kHostRange) {
    plan.first_uid = host.uids()->base();
    plan.kept_capabilities = sandbox::kZygoteCapabilities;
    if (!order.listener_ports.empty()) {
      plan.kept_capabilities |= sandbox::kZygoteNetworkCapabilities;
    }
  }
  plan.root = layout.root();
  plan.box.walls = host.walls().bits();
  plan.box.mode = mode;
  plan.box.uid = uid;
  plan.box.inner_uid = 1000;
  plan.box.inner_uid_map = map.c_str();
  plan.box.host_name = "box";
  plan.box.work_folder = order.work_folder.c_str();
  plan.box.limits = limits.data();
  plan.box.limit_count = static_cast<std::uint16_t>(limits.size());
  plan.box.landlock = layout.landlock();
  plan.box.filter = filter.data();
  plan.box.filter_length = static_cast<std::uint16_t>(filter.size());
  plan.writable_code = order.writable_code;
  const std::span<const sock_filter> unobserved = ServerFilterUnobserved();
  plan.unobserved_filter = unobserved.data();
  plan.unobserved_filter_length = static_cast<std::uint16_t>(unobserved.size());
  plan.probes = layout.probes().data();
  plan.probe_count = static_cast<std::uint16_t>(layout.probes().size());
  plan.input_fd = input.read.get();
  plan.output_fd = output.write.get();
  plan.error_fd = error.write.get();
  plan.listener_socket = hello_sockets.theirs.get();
  plan.status_fd = status.write.get();
  plan.executable = order.executable.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();

  SocketPair network;
  if (!order.listener_ports.empty()) {
    network = TRY(sandbox::MakeListenerSocket());
    plan.box.network = {network.theirs.get(), order.listener_ports.data(),
                        static_cast<std::uint16_t>(order.listener_ports.size())};
  }

  if (place.cgroup) {
    TRY(place.cgroup->Prepare(order.limits));
    // It joins by itself: to be moved by somebody else takes a lock that costs milliseconds.
    plan.box.cgroup_fds = place.cgroup->join_fds().data();
    plan.box.cgroup_fd_count = static_cast<std::uint16_t>(place.cgroup->join_fds().size());
  }
  sandbox::Process init = TRY(sandbox::CloneJail(
      Namespaces(mode), place.cgroup ? place.cgroup->birth_fd() : -1, ready.write.get(), plan));
  failure.write.reset();
  hello_sockets.theirs.reset();
  if (mode.user_namespaces()) {
    const auto& uids = host.uids();
    TRY(sandbox::WriteIdMaps(init.pid(), uids ? uids->base() : ::geteuid(),
                             uids ? uids->base() : ::getegid(), uids ? sandbox::kUidsPerRange : 1));
  }
  if (::write(ready.write.get(), "1", 1) != 1) {
    return Error::FromErrno("telling the child to go on", errno);
  }
  Hello hello = TRY(AwaitHello(hello_sockets.ours.get(), failure.read.get(), layout, order));
  // It waits for an answer to its execve, or has nobody to ask: its number is its own.
  UniqueFd program(static_cast<int>(::syscall(SYS_pidfd_open, hello.pid, 0)));
  if (!program) return Error::FromErrno("holding on to the program", errno);
  std::vector<UniqueFd> listeners;
  if (network.ours) {
    listeners = TRY(sandbox::ReceiveListeners(network.ours.get(), order.listener_ports.size()));
  }
  const bool observed = hello.listener.valid();
  if (observed) watcher.Watch(std::move(hello.listener), judge);
  if (const auto failed = ReadFailure(failure.read.get(), layout, order)) return *failed;
  return RunningBox{
      std::move(init),       std::move(program),     std::move(input.write), std::move(output.read),
      std::move(error.read), std::move(status.read), std::move(listeners),   observed};
}

}  // namespace glovebox::jail

#include "executor/container_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "base/await_readable.h"
#include "base/file.h"
#include "base/text.h"
#include "container/program.h"
#include "executor/box_channels.h"
#include "executor/container_wire.h"
#include "python/wire/descriptor_passing.h"
#include "sandbox/parent/spawn.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using sandbox::Wall;

// Births for nobody in particular, at a time: each keeps a CPU busy for a tenth of a second.
constexpr std::size_t kRefillBirthsMax = 1;
constexpr auto kBirthTimeMax = std::chrono::seconds(30);
constexpr auto kDeletePatience = std::chrono::seconds(10);
// What a runtime and a kernel in user space need to start; a request's own limits come later.
constexpr sandbox::CgroupLimits kBirthLimits = {2ull << 30, 1024, 1.0};

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<SocketPair> MakeControlSocket() {
  std::array<int, 2> fds;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return Error::FromErrno("making a control socket", errno);
  }
  return SocketPair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// 0, or what went wrong: of a child that has ended and is not reaped.
int ExitCodeOf(int pidfd) {
  siginfo_t info = {};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOWAIT) != 0) return -1;
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

void AwaitEnd(const sandbox::Process& process) {
  pollfd watched = {process.pidfd(), POLLIN, 0};
  const std::chrono::milliseconds patience = kDeletePatience;
  while (::poll(&watched, 1, static_cast<int>(patience.count())) < 0 && errno == EINTR) {
  }
}

std::string LastWords(const std::string& log_file) {
  const std::string log = ReadFile(log_file).value_or("");
  const std::string_view said = Trim(log);
  constexpr std::size_t kWordsMax = 600;
  return std::string(said.size() > kWordsMax ? said.substr(said.size() - kWordsMax) : said);
}

Error RuntimeFailed(const std::string& what, const std::string& log_file) {
  const std::string words = LastWords(log_file);
  return Error(Errc::kSystem, what + (words.empty() ? "" : ": " + words));
}

// What a runtime is given for its container: a socket, and the number under which it is looked for.
struct Wire {
  int fd = -1;
  int place = 0;
};

Result<sandbox::Process> StartRuntime(const std::vector<std::string>& arguments, const Wire& wire,
                                      const std::string& log_file, const Slot* slot) {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd log(
      log_file.empty() ? ::open("/dev/null", O_RDWR | O_CLOEXEC)
                       : ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!null || !log) return Error::FromErrno("opening a container's log", errno);
  sandbox::SpawnRequest spawn;
  spawn.executable = arguments.front();
  spawn.arguments = arguments;
  spawn.environment = container::ProgramEnvironment();
  spawn.descriptors = {{null.get(), 0}, {null.get(), 1}, {log.get(), 2}};
  if (wire.fd >= 0 && wire.place == 0) spawn.descriptors.front().first = wire.fd;
  if (wire.fd >= 0 && wire.place != 0) spawn.descriptors.emplace_back(wire.fd, wire.place);
  if (slot != nullptr) spawn.adopt = [slot](pid_t pid) { return slot->cgroup->Adopt(pid); };
  return sandbox::Spawn(spawn);
}

std::vector<std::string> MissingIn(const container::Runtime& runtime) {
  std::vector<std::string> missing = {
      "kernel events: no supervisor hears of refused system calls in a container; what the "
      "interpreter sees is told"};
  if (runtime.docker()) {
    missing.emplace_back(
        "user namespace: docker gives its containers none; their user is one of the host that owns "
        "nothing there");
  }
  if (runtime.own_kernel()) {
    missing.emplace_back(
        "Landlock: gVisor's kernel has none; its files are held by the root and by gVisor itself");
    missing.emplace_back(
        "process flags: gVisor lets memory be writable and executable, and counts neither "
        "RLIMIT_DATA nor the inodes of a tmpfs; the memory of all of it is limited");
  }
  return missing;
}

std::vector<std::string> GrantedPaths(const BoxKind& kind) {
  std::vector<std::string> paths = kind.module_paths;
  for (const FolderGrant& folder : kind.folders) paths.push_back(folder.box_path);
  return paths;
}

// What the runtime has built already, and what its kernel does not have, is not built again.
std::uint32_t InnerWalls(std::uint32_t walls, const container::Runtime& runtime) {
  if (runtime.own_kernel()) walls &= ~(1u << static_cast<unsigned>(Wall::kLandlock));
  return walls;
}

}  // namespace

// One container, from the command that starts it until its box is gone.
struct ContainerPool::Birth {
  explicit Birth(asio::io_context& context)
      : runtime_end(context), listener(context), control(context) {}

  container::PreparedContainer container;
  Slot* slot = nullptr;
  std::optional<sandbox::Process> runtime;  // until it has ended
  asio::posix::stream_descriptor runtime_end;
  // Of a container that connects: until it has, and what it then gets.
  asio::posix::stream_descriptor listener;
  std::optional<BoxEnds> ends;
  asio::posix::stream_descriptor control;  // open as long as the container is to live
  UniqueFd pidfd;                          // of the container, until the box has it
  std::shared_ptr<Box> box;
  bool over = false;  // the box has heard of its birth, or that there is none
};

struct ContainerPool::Deletion {
  explicit Deletion(asio::io_context& context) : end(context) {}

  std::string id;
  std::optional<sandbox::Process> runtime;
  asio::posix::stream_descriptor end;
};

Result<std::unique_ptr<ContainerPool>> ContainerPool::Create(Means means, BoxKind kind,
                                                             python::BoxFactory factory,
                                                             Handlers handlers) {
  auto container_kind = TRY(means.containers.MakeKind(factory.root(), factory.policy(),
                                                      factory.program(), GrantedPaths(kind)));
  return std::unique_ptr<ContainerPool>(new ContainerPool(
      means, std::move(kind), std::move(factory), std::move(container_kind), std::move(handlers)));
}

ContainerPool::ContainerPool(Means means, BoxKind kind, python::BoxFactory factory,
                             container::ContainerKind container_kind, Handlers handlers)
    : means_(means),
      kind_(std::move(kind)),
      factory_(std::move(factory)),
      setup_(factory_.setup()),
      container_kind_(std::move(container_kind)),
      handlers_(std::move(handlers)),
      missing_(MissingIn(means.containers.runtime())) {
  setup_.walls = InnerWalls(setup_.walls, means.containers.runtime());
  setup_.rehearse = true;
  const std::string& image = means.containers.image_folder();
  if (image.empty()) return;
  const auto lacks = [&image](const std::string& path) {
    return ::access((image + path).c_str(), F_OK) != 0;
  };
  std::erase_if(setup_.module_paths, lacks);
  // The runtime makes what is below /dev.
  std::erase_if(setup_.landlock.rules, [&](const auto& rule) {
    return !rule.first.starts_with("/dev") && lacks(rule.first);
  });
}

ContainerPool::~ContainerPool() {
  *alive_ = false;
  for (const std::shared_ptr<Birth>& birth : lives_) {
    birth->box->Abandon();
    error_code ignored;
    birth->listener.close(ignored);  // nobody takes its call: it ends
    if (birth->runtime && means_.containers.runtime().must_finish()) AwaitEnd(*birth->runtime);
    birth->runtime.reset();
    birth->slot->cgroup->KillAll();
    DeleteNow(birth->container.id);
  }
  for (const std::shared_ptr<Deletion>& deletion : deletions_) {
    deletion->runtime.reset();  // kills it: begun anew, to the end
    DeleteNow(deletion->id);
  }
}

// Precondition: its processes are dead.
void ContainerPool::DeleteNow(const std::string& id) {
  if (means_.containers.runtime().needs_delete()) {
    static_cast<void>(
        container::RunProgram(means_.containers.DeleteArguments(id), kDeletePatience));
  }
  means_.containers.Forget(id);
}

void ContainerPool::Want(std::size_t count, const sandbox::CgroupLimits& /*limits*/) {
  const std::size_t coming = waiting_.size() + births_;
  wanted_ = count > coming ? count - coming : 0;
  if (wanted_ == 0) return;
  failing_ = false;
  BeginBirths();
}

void ContainerPool::BeginBirths() {
  while (wanted_ > 0 && !means_.slots.full()) {
    --wanted_;
    BeginBirth();
  }
}

void ContainerPool::BeginBirth() {
  Result<std::shared_ptr<Birth>> begun = TryBirth();
  if (begun) return;
  failing_ = true;
  handlers_.failed(begun.error(), 1);
}

Result<std::shared_ptr<ContainerPool::Birth>> ContainerPool::TryBirth() {
  BoxChannels channels = TRY(BoxChannels::Make());
  auto birth = std::make_shared<Birth>(means_.context);
  birth->slot = TRY(means_.slots.Take(kBirthLimits));
  std::optional<container::HostIds> ids;
  if (means_.host.uids()) {
    const uid_t base = means_.host.uids()->base();
    ids = container::HostIds{base, base + birth->slot->number};
  }
  auto prepared = means_.containers.Prepare(container_kind_, "container", ids);
  Status started = prepared ? Status() : Status(prepared.error());
  if (started) {
    birth->container = std::move(*prepared);
    birth->ends.emplace(std::move(channels.box));
    started =
        birth->container.wire_socket.empty() ? StartWithSocket(*birth) : StartListening(*birth);
  }
  if (!started) {
    means_.slots.Return(birth->slot);
    if (!birth->container.id.empty()) means_.containers.Forget(birth->container.id);
    return std::move(started).error();
  }
  const bool own_kernel = means_.containers.runtime().own_kernel();
  Box::Means means{birth->slot, nullptr, nullptr, {}, nullptr, true, own_kernel, kBirthTimeMax};
  birth->box = std::make_shared<Box>(means_.context, std::move(channels.server), std::move(means));
  // No handler outlives us: the destructor abandons every box.
  const std::weak_ptr<Birth> weak = birth;
  birth->box->handlers.ready = [this, weak] { OnReady(weak.lock()->box); };
  birth->box->handlers.lost = [this, weak](const Error& error) { OnLost(weak.lock(), error); };
  birth->box->handlers.gone = [this, weak] { OnGone(weak.lock()); };
  lives_.insert(birth);
  ++births_;
  birth->box->Begin();
  AwaitRuntime(birth);
  if (birth->listener.is_open()) AwaitCall(birth);
  return birth;
}

// Every box end travels with the set-up; the container takes them when it comes to life.
Status ContainerPool::SendSetup(Birth& birth, int socket_fd) const {
  const int error =
      wire::SendWithDescriptors(socket_fd, wire::Encode(setup_), birth.ends->List({}));
  birth.ends.reset();
  if (error != 0) return Error::FromErrno("sending a container's set-up", error);
  return {};
}

Status ContainerPool::StartWithSocket(Birth& birth) const {
  SocketPair control = TRY(MakeControlSocket());
  TRY(SendSetup(birth, control.ours.get()));
  const Wire wire = {control.theirs.get(), means_.containers.runtime().wire_fd()};
  birth.runtime.emplace(
      TRY(StartRuntime(birth.container.run_arguments, wire, birth.container.log_file, birth.slot)));
  birth.control.assign(control.ours.release());
  return {};
}

// What is started here is a client of the runtime: it takes nothing of the container's share.
Status ContainerPool::StartListening(Birth& birth) const {
  UniqueFd listener = TRY(ListenForContainer(birth.container.wire_socket, birth.container.uid));
  birth.runtime.emplace(
      TRY(StartRuntime(birth.container.run_arguments, {}, birth.container.log_file, nullptr)));
  birth.listener.assign(listener.release());
  return {};
}

void ContainerPool::AwaitCall(const std::shared_ptr<Birth>& birth) {
  AwaitReadable(birth->listener, [this, alive = alive_, birth](const error_code& error) {
    if (!error && *alive && !birth->over) OnCall(birth);
  });
}

// It has one process, in a group of the runtime's: from here on everything is in ours.
void ContainerPool::OnCall(const std::shared_ptr<Birth>& birth) {
  auto call = AcceptContainer(birth->listener.native_handle(), birth->container.uid);
  error_code ignored;
  birth->listener.close(ignored);
  ::unlink(birth->container.wire_socket.c_str());
  if (!call) return FailBirth(birth, call.error());
  birth->pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, call->pid, 0)));
  Status begun = birth->pidfd ? birth->slot->cgroup->Adopt(call->pid)
                              : Status(Error::FromErrno("finding a container", errno));
  if (begun) begun = SendSetup(*birth, call->socket.get());
  if (!begun) return FailBirth(birth, begun.error());
  birth->control.assign(call->socket.release());
  AwaitGreeting(birth);
}

void ContainerPool::AwaitRuntime(const std::shared_ptr<Birth>& birth) {
  birth->runtime_end.assign(::fcntl(birth->runtime->pidfd(), F_DUPFD_CLOEXEC, 3));
  AwaitReadable(birth->runtime_end, [this, alive = alive_, birth](const error_code& error) {
    if (!error && *alive && birth->runtime) OnRuntimeEnd(birth);
  });
}

void ContainerPool::OnRuntimeEnd(const std::shared_ptr<Birth>& birth) {
  const int exit_code = ExitCodeOf(birth->runtime->pidfd());
  birth->runtime.reset();
  error_code ignored;
  birth->runtime_end.close(ignored);
  if (birth->over) return;
  if (exit_code != 0) {
    return FailBirth(birth, RuntimeFailed(means_.containers.runtime().Describe() +
                                              " could not start a container (exit code " +
                                              std::to_string(exit_code) + ")",
                                          birth->container.log_file));
  }
  if (birth->container.pid_file.empty()) return;  // it calls, or has called
  const std::string text = ReadFile(birth->container.pid_file).value_or("");
  const long pid = std::strtol(text.c_str(), nullptr, 10);
  birth->pidfd.reset(pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1);
  if (!birth->pidfd) {
    return FailBirth(birth, RuntimeFailed("The container ended as soon as it had begun",
                                          birth->container.log_file));
  }
  AwaitGreeting(birth);
}

void ContainerPool::AwaitGreeting(const std::shared_ptr<Birth>& birth) {
  birth->control.async_wait(asio::posix::stream_descriptor::wait_read,
                            [this, alive = alive_, birth](const error_code& error) {
                              if (!error && *alive && !birth->over) OnGreeting(birth);
                            });
}

// Nothing untrusted has run yet.
void ContainerPool::OnGreeting(const std::shared_ptr<Birth>& birth) {
  wire::ReceivedMessage message;
  const int error = wire::ReceiveWithDescriptors(birth->control.native_handle(), message);
  if (error == EAGAIN) return AwaitGreeting(birth);
  for (const int fd : message.fds) ::close(fd);
  const std::optional<wire::ZygoteReady> ready = wire::DecodeZygoteReady(message.payload);
  if (!ready) {
    return FailBirth(birth, RuntimeFailed("The container ended before Python was ready",
                                          birth->container.log_file));
  }
  if (!ready->error.empty()) {
    return FailBirth(birth, Error(Errc::kUnsupported, "in the container: " + ready->error));
  }
  birth->over = true;
  birth->box->OnBorn(std::move(birth->pidfd));
}

void ContainerPool::FailBirth(const std::shared_ptr<Birth>& birth, const Error& error) {
  birth->over = true;
  if (!means_.containers.runtime().must_finish()) birth->runtime.reset();
  birth->slot->cgroup->KillAll();
  birth->box->OnBorn(error);
}

void ContainerPool::OnReady(const std::shared_ptr<Box>& box) {
  --births_;
  failing_ = false;
  waiting_.push_back(box);
  handlers_.waiting();
}

void ContainerPool::OnLost(const std::shared_ptr<Birth>& birth, const Error& error) {
  --births_;
  failing_ = true;
  // It took too long: the box waits for a birth that is not to be.
  if (!birth->over) {
    asio::post(means_.context, [this, alive = alive_, birth, error] {
      if (*alive && !birth->over) FailBirth(birth, error);
    });
  }
  handlers_.failed(error, 1);
}

void ContainerPool::OnGone(const std::shared_ptr<Birth>& birth) {
  std::erase(waiting_, birth->box);
  error_code ignored;
  birth->control.close(ignored);
  birth->listener.close(ignored);
  lives_.erase(birth);
  Delete(birth->container.id);
  means_.slots.Return(birth->slot);
  BeginBirths();
  handlers_.changed();
}

void ContainerPool::Delete(const std::string& id) {
  if (!means_.containers.runtime().needs_delete()) return means_.containers.Forget(id);
  auto deletion = std::make_shared<Deletion>(means_.context);
  deletion->id = id;
  auto started = StartRuntime(means_.containers.DeleteArguments(id), {}, "", nullptr);
  if (!started) return;  // what it leaves is swept by the next server
  deletion->runtime.emplace(std::move(*started));
  deletion->end.assign(::fcntl(deletion->runtime->pidfd(), F_DUPFD_CLOEXEC, 3));
  deletions_.insert(deletion);
  AwaitReadable(deletion->end, [this, alive = alive_, deletion](const error_code& error) {
    if (error || !*alive) return;
    deletion->runtime.reset();
    means_.containers.Forget(deletion->id);
    deletions_.erase(deletion);
  });
}

std::shared_ptr<Box> ContainerPool::Take() {
  while (!waiting_.empty()) {
    std::shared_ptr<Box> box = std::move(waiting_.front());
    waiting_.pop_front();
    if (box->waiting()) return box;
  }
  return nullptr;
}

void ContainerPool::Refill(std::size_t boxes, bool /*hurry*/) {
  boxes = std::min<std::size_t>(boxes, kind_.warm_boxes);
  while (waiting_.size() > boxes) {
    const std::shared_ptr<Box> box = std::move(waiting_.front());
    waiting_.pop_front();
    box->Kill();
  }
  while (!failing_ && births_ < kRefillBirthsMax && waiting_.size() + births_ < boxes &&
         !means_.slots.full()) {
    BeginBirth();
  }
}

}  // namespace glovebox

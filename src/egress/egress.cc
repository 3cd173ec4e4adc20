#include "egress/egress.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/socket_pair.h"
#include "egress/proxy_root.h"

namespace glovebox::egress {
namespace {

constexpr int kLastWordMs = 200;

// Everything but the network: that is the host's, which it is there for.
std::uint64_t Namespaces(const sandbox::HostMode& mode) {
  const std::uint64_t user = mode.user_namespaces() ? CLONE_NEWUSER : 0;
  return user | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
}

void FillIdentity(const ProxyOptions& options, sandbox::SpawnRequest& spawn) {
  if (!options.mode.user_namespaces()) {
    spawn.host_uid = options.uid;
    return;
  }
  spawn.uid_base = options.mode.own_uids() ? options.uid : ::geteuid();
  spawn.gid_base = options.mode.own_uids() ? options.uid : ::getegid();
  spawn.uid_count = options.mode.own_uids() ? 2 : 1;  // 0 to start with, 1 to be
}

Status SendSetup(int socket_fd, const ProxyOptions& options) {
  const bool other_uid = options.mode.user_namespaces() && options.mode.own_uids();
  const std::string payload = Encode(
      ProxySetup{options.policy, static_cast<std::uint32_t>(options.listeners.size()), other_uid});
  if (payload.size() > kMessageMax) {
    return Error(Errc::kLimit, "the rules of hosts are too long for the egress proxy");
  }
  const int size = static_cast<int>(2 * kMessageMax);
  ::setsockopt(socket_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
  if (::send(socket_fd, payload.data(), payload.size(), MSG_NOSIGNAL) < 0) {
    return Error::FromErrno("sending the egress proxy its set-up", errno);
  }
  return {};
}

std::optional<policy::IpAddress> AddressOf(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  policy::IpAddress out;
  if (address->sa_family == AF_INET) {
    const auto* internet = reinterpret_cast<const sockaddr_in*>(address);
    std::memcpy(out.bytes.data(), &internet->sin_addr, 4);
    return out;
  }
  if (address->sa_family == AF_INET6) {
    const auto* internet = reinterpret_cast<const sockaddr_in6*>(address);
    out.v4 = false;
    std::memcpy(out.bytes.data(), &internet->sin6_addr, 16);
    return out;
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::Start(ProxyOptions options) {
  if (!options.mode.namespaces) {
    return Error(Errc::kUnsupported,
                 "a way out needs namespaces, which this host does not give (glovebox doctor says "
                 "why); boxes without them have no network");
  }
  if (options.listeners.empty() || options.listeners.size() > sandbox::kListenersMax) {
    return Error(Errc::kInternal, "an egress proxy needs the listeners of its box");
  }
  const sandbox::RootLayout root =
      TRY(ProxyRoot(options.program, options.hosts_file, options.resolver_file));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return Error::FromErrno("opening /dev/null", errno);
  SocketPair sockets = TRY(MakeSocketPair("the proxy's socket"));
  sandbox::SpawnRequest spawn;
  spawn.namespaces = Namespaces(options.mode);
  FillIdentity(options, spawn);
  spawn.root = &root;
  spawn.descriptors = {
      {null.get(), 0}, {null.get(), 1}, {null.get(), 2}, {sockets.theirs.get(), kProxySocketFd}};
  for (std::size_t i = 0; i < options.listeners.size(); ++i) {
    spawn.descriptors.emplace_back(options.listeners[i].get(),
                                   kFirstListenerFd + static_cast<int>(i));
  }
  spawn.executable = kProxyInRoot;
  spawn.arguments = {"glovebox-egress"};
  sandbox::Process process = TRY(sandbox::Spawn(spawn));
  TRY(SendSetup(sockets.ours.get(), options));
  ::fcntl(sockets.ours.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<Proxy>(new Proxy(std::move(process), std::move(sockets.ours)));
}

Proxy::Taken Proxy::Take() {
  Taken taken;
  std::array<char, kReportMax> buffer;
  while (true) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return taken;
    if (got <= 0) {
      if (!taken.failure) taken.failure = Error(Errc::kSystem, "the egress proxy is gone");
      return taken;
    }
    const std::size_t size = static_cast<std::size_t>(got);
    auto report = size <= buffer.size() ? DecodeProxyReport({buffer.data(), size}) : std::nullopt;
    if (!report) {
      taken.failure = Error(Errc::kInternal, "the egress proxy's report is not understood");
      return taken;
    }
    switch (report->kind) {
      case ReportKind::kReady: taken.ready = true; break;
      case ReportKind::kFailed:
        taken.failure =
            Error(Errc::kSystem, "the egress proxy could not start: " + report->failure);
        break;
      case ReportKind::kConnection:
        taken.connections.push_back(std::move(report->connection));
        break;
    }
  }
}

Proxy::Taken Proxy::Finish() {
  Taken all = Take();
  // Its end of the socket sees ours close; what it says last is still readable here.
  ::shutdown(socket_.get(), SHUT_WR);
  pollfd ended = {process_.pidfd(), POLLIN, 0};
  ::poll(&ended, 1, kLastWordMs);
  Taken last = Take();
  std::move(last.connections.begin(), last.connections.end(), std::back_inserter(all.connections));
  all.ready = all.ready || last.ready;
  return all;
}

Event ToEvent(const ConnectionReport& report) {
  Event event;
  event.source = EventSource::kEgress;
  event.layer = "egress";
  event.operation = std::string("connect (") + NameOf(report.door) + ")";
  event.target = report.host + ":" + std::to_string(report.port);
  event.refused = !report.allowed;
  event.rule = report.allowed ? report.rule : report.reason;
  event.remedy = report.remedy;
  event.bytes_sent = report.bytes_sent;
  event.bytes_received = report.bytes_received;
  return event;
}

std::vector<policy::IpAddress> OwnAddresses() {
  std::vector<policy::IpAddress> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const auto address = AddressOf(entry->ifa_addr);
    if (address && std::find(out.begin(), out.end(), *address) == out.end()) {
      out.push_back(*address);
    }
  }
  ::freeifaddrs(list);
  return out;
}

}  // namespace glovebox::egress

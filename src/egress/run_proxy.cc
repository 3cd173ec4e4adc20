#include "egress/run_proxy.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/await_readable.h"
#include "base/unique_fd.h"
#include "egress/messages.h"
#include "egress/proxy_server.h"
#include "egress/resolver.h"
#include "egress/self_jail.h"

namespace glovebox::egress {
namespace {

namespace asio = boost::asio;

std::optional<ProxySetup> ReceiveSetup(int socket_fd) {
  std::string buffer(kMessageMax, '\0');
  ssize_t got = 0;
  do {
    got = ::recv(socket_fd, buffer.data(), buffer.size(), MSG_TRUNC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0 || static_cast<std::size_t>(got) > buffer.size()) return std::nullopt;
  return DecodeProxySetup({buffer.data(), static_cast<std::size_t>(got)});
}

// A server that does not read loses reports, not the proxy its time.
void Send(int socket_fd, const ProxyReport& report) {
  const std::string payload = Encode(report);
  ::send(socket_fd, payload.data(), payload.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// The only thing that comes after the set-up is the end of the server's interest.
void AwaitEnd(asio::posix::stream_descriptor& socket, ProxyServer& server,
              asio::io_context& context) {
  AwaitReadable(socket, [&server, &context](const boost::system::error_code&) {
    server.Stop();
    context.stop();
  });
}

[[noreturn]] void Serve(int socket_fd, ProxySetup setup) {
  asio::io_context context(1);
  SystemResolver resolver;
  SessionMeans means;
  means.direct = policy::PlanBoxNetwork(setup.policy).direct;
  means.policy = std::move(setup.policy);
  means.resolve = [&resolver](std::string name) { return resolver(std::move(name)); };
  means.report = [socket_fd](const ConnectionReport& connection) {
    ProxyReport report;
    report.kind = ReportKind::kConnection;
    report.connection = connection;
    Send(socket_fd, report);
  };
  ProxyServer server(context, std::move(means));
  for (std::uint32_t i = 0; i < setup.listener_count; ++i) {
    server.Serve(UniqueFd(kFirstListenerFd + static_cast<int>(i)));
  }
  asio::posix::stream_descriptor socket(context, socket_fd);
  AwaitEnd(socket, server, context);
  Send(socket_fd, ProxyReport{});
  context.run();
  // Not by way of destructors: one of the resolver's threads may be in the middle of a lookup.
  ::_exit(0);
}

}  // namespace

int RunProxy(int socket_fd) {
  auto setup = ReceiveSetup(socket_fd);
  if (!setup) return 2;
  if (Status locked = LockSelfIn(setup->other_uid); !locked) {
    ProxyReport report;
    report.kind = ReportKind::kFailed;
    report.failure = locked.error().message();
    Send(socket_fd, report);
    return 1;
  }
  Serve(socket_fd, std::move(*setup));
}

}  // namespace glovebox::egress

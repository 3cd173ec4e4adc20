#include "scene_sockets.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace glovebox::isolation {
namespace {

constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;

template <typename Address>
const sockaddr* Generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Result<std::uint16_t> PortOf(int fd) {
  sockaddr_in6 address = {};
  socklen_t length = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return Error::FromErrno("getsockname", errno);
  }
  return ntohs(address.sin6_port);  // at the same place in both families
}

}  // namespace

Result<Listener> ListenTcp(int family, std::uint16_t& port) {
  Listener listener{UniqueFd(socket(family, SOCK_STREAM | kFlags, 0)), true};
  const sockaddr_in four = Loopback(0);
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  const int bound = family == AF_INET ? bind(listener.fd.get(), Generic(four), sizeof(four))
                                      : bind(listener.fd.get(), Generic(six), sizeof(six));
  if (bound != 0 || listen(listener.fd.get(), 8) != 0) return Error::FromErrno("listen", errno);
  port = TRY(PortOf(listener.fd.get()));
  return listener;
}

Result<Listener> ListenUdp(std::uint16_t& port) {
  Listener listener{UniqueFd(socket(AF_INET, SOCK_DGRAM | kFlags, 0)), false};
  sockaddr_in address = Loopback(0);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  if (bind(listener.fd.get(), Generic(address), sizeof(address)) != 0) {
    return Error::FromErrno("bind", errno);
  }
  port = TRY(PortOf(listener.fd.get()));
  return listener;
}

Result<Listener> ListenUnix(const std::string& name, int type) {
  Listener listener{UniqueFd(socket(AF_UNIX, type | kFlags, 0)), type == SOCK_STREAM};
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (bind(listener.fd.get(), Generic(address), length) != 0) {
    return Error::FromErrno("bind " + name, errno);
  }
  if (name[0] == '/') chmod(name.c_str(), 0777);
  if (listener.stream && listen(listener.fd.get(), 8) != 0) {
    return Error::FromErrno("listen", errno);
  }
  return listener;
}

bool Drain(const Listener& listener) {
  bool any = false;
  if (listener.stream) {
    for (int fd; (fd = accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      close(fd);
      any = true;
    }
    return any;
  }
  std::array<char, 256> message = {};
  while (recv(listener.fd.get(), message.data(), message.size(), 0) >= 0) any = true;
  return any;
}

bool CanConnect(std::uint16_t port) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  return connect(fd.get(), Generic(address), sizeof(address)) == 0;
}

Status AddLoopbackAddress(const std::string& address) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::snprintf(request.ifr_name, sizeof(request.ifr_name), "lo:1");
  sockaddr_in value = Loopback(0);
  inet_pton(AF_INET, address.c_str(), &value.sin_addr);
  memcpy(&request.ifr_addr, &value, sizeof(value));
  if (ioctl(fd.get(), SIOCSIFADDR, &request) == 0) return {};
  return Error::FromErrno("adding an address to loopback", errno);
}

}  // namespace glovebox::isolation

#include "audit/scene_sockets.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
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
#include <utility>

namespace glovebox::audit {
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

bool AnswerName(const Listener& resolver) {
  constexpr std::size_t kHeaderBytes = 12;
  // A pointer to the question's name, type A, class IN, a minute, four bytes: 192.0.2.53.
  constexpr std::array<char, 16> kAnswer = {'\xc0', 12, 0, 1, 0,      1, 0, 0,
                                            0,      60, 0, 4, '\xc0', 0, 2, 53};
  bool any = false;
  std::array<char, 512> message = {};
  sockaddr_storage from = {};
  while (true) {
    socklen_t length = sizeof(from);
    const ssize_t size = recvfrom(resolver.fd.get(), message.data(), message.size(), 0,
                                  reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return any;
    any = true;
    const auto asked = static_cast<std::size_t>(size);
    if (asked < kHeaderBytes || asked + kAnswer.size() > message.size()) continue;
    message[2] = '\x81';  // an answer
    message[3] = '\x80';
    message[7] = 1;  // one of them
    memcpy(message.data() + asked, kAnswer.data(), kAnswer.size());
    sendto(resolver.fd.get(), message.data(), asked + kAnswer.size(), 0,
           reinterpret_cast<const sockaddr*>(&from), length);
  }
}

namespace {

// The first interface that is up, has an IPv4 address and is not loopback.
std::pair<std::string, std::string> Outer() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  std::pair<std::string, std::string> found;
  for (const ifaddrs* item = list; item != nullptr && found.first.empty(); item = item->ifa_next) {
    if (item->ifa_addr == nullptr || item->ifa_addr->sa_family != AF_INET) continue;
    if ((item->ifa_flags & IFF_LOOPBACK) != 0) continue;
    sockaddr_in address = {};
    memcpy(&address, item->ifa_addr, sizeof(address));
    std::array<char, INET_ADDRSTRLEN> text = {};
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    found = {item->ifa_name, text.data()};
  }
  freeifaddrs(list);
  return found;
}

}  // namespace

std::string OuterInterface() { return Outer().first; }
std::string OuterAddress() { return Outer().second; }

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

}  // namespace glovebox::audit

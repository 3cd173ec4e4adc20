#include "sandbox/child/network.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

constexpr int kBacklog = 64;

AFTER_FORK int RaiseLoopback() noexcept {
  const long fd = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  ifreq request = {};
  memcpy(request.ifr_name, "lo", 3);
  int error = ErrnoOf(syscall(SYS_ioctl, fd, SIOCGIFFLAGS, &request));
  if (error == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    error = ErrnoOf(syscall(SYS_ioctl, fd, SIOCSIFFLAGS, &request));
  }
  syscall(SYS_close, fd);
  return error;
}

// On every address: lo is all there is, and its whole 127.0.0.0/8 leads here.
AFTER_FORK int Listen(std::uint16_t port, int* listener_fd) noexcept {
  const long fd = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  *listener_fd = static_cast<int>(fd);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = static_cast<in_port_t>(port >> 8 | (port & 0xFF) << 8);  // network order
  if (syscall(SYS_bind, fd, &address, sizeof(address)) < 0) return errno;
  return ErrnoOf(syscall(SYS_listen, fd, kBacklog));
}

AFTER_FORK int Send(int socket_fd, const int* fds, std::uint16_t count) noexcept {
  char byte = 1;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kListenersMax)] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
  memcpy(CMSG_DATA(rights), fds, sizeof(int) * count);
  return ErrnoOf(syscall(SYS_sendmsg, socket_fd, &header, MSG_NOSIGNAL));
}

}  // namespace

AFTER_FORK int RaiseNetwork(const NetworkPlan& plan) noexcept {
  if (plan.report_fd < 0) return 0;
  if (plan.port_count == 0 || plan.port_count > kListenersMax) return EINVAL;
  if (const int error = RaiseLoopback(); error != 0) return error;
  int listeners[kListenersMax];
  std::uint16_t made = 0;
  int error = 0;
  while (error == 0 && made < plan.port_count) {
    listeners[made] = -1;
    error = Listen(plan.ports[made], &listeners[made]);
    ++made;
  }
  if (error == 0) error = Send(plan.report_fd, listeners, made);
  // The copies in the message are all that may be left: nobody in the box accepts on them.
  for (std::uint16_t i = 0; i < made; ++i) {
    if (listeners[i] >= 0) syscall(SYS_close, listeners[i]);
  }
  return error;
}

}  // namespace glovebox::sandbox

#include "sandbox/parent/listeners.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sandbox/plan/child_plan.h"

namespace glovebox::sandbox {

Result<SocketPair> MakeListenerSocket() {
  SocketPair sockets = TRY(MakeSocketPair("a socket for listeners"));
  ::fcntl(sockets.ours.get(), F_SETFL, O_NONBLOCK);
  return sockets;
}

Result<std::vector<UniqueFd>> ReceiveListeners(int socket_fd, std::size_t count) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kListenersMax)];
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  while ((got = ::recvmsg(socket_fd, &header, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno != EINTR) return Error::FromErrno("receiving the box's listeners", errno);
  }
  std::vector<UniqueFd> listeners;
  for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr;
       rights = CMSG_NXTHDR(&header, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t fds = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < fds; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(rights) + i * sizeof(int), sizeof(fd));
      listeners.emplace_back(fd);
    }
  }
  if (got != 1 || listeners.size() != count) {
    return Error(Errc::kInternal, "the box sent other listeners than it was asked for");
  }
  return listeners;
}

}  // namespace glovebox::sandbox

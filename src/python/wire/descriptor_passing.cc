#include "python/wire/descriptor_passing.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "python/wire/zygote.h"

namespace glovebox::wire {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kBoxDescriptorsMax);

}  // namespace

int SendWithDescriptors(int socket_fd, std::string_view payload, const std::vector<int>& fds) {
  if (fds.size() > kBoxDescriptorsMax) return E2BIG;
  iovec part = {const_cast<char*>(payload.data()), payload.size()};
  alignas(cmsghdr) char control[kControlBytes] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  while (::sendmsg(socket_fd, &header, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int ReceiveWithDescriptors(int socket_fd, ReceivedMessage& message) {
  // Always the same, and never cleared: a message costs the pages it fills and no others, and the
  // heap, which boxes inherit, stays as it was. Not one for each thread: the stack of a thread has
  // to hold what is its own, and programs in boxes choose how small their stacks are.
  static std::array<char, kZygoteMessageMax> buffer;
  message.fds.clear();
  iovec part = {buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[kControlBytes];
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  while ((got = ::recvmsg(socket_fd, &header, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno != EINTR) return errno;
  }
  message.payload.assign(buffer.data(), static_cast<std::size_t>(got));
  for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr;
       rights = CMSG_NXTHDR(&header, rights)) {
    if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    message.fds.resize(count);
    std::memcpy(message.fds.data(), CMSG_DATA(rights), count * sizeof(int));
  }
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) return 0;
  for (const int fd : message.fds) ::close(fd);
  message.fds.clear();
  return EMSGSIZE;
}

}  // namespace glovebox::wire

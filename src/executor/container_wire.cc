#include "executor/container_wire.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace glovebox {

Result<UniqueFd> ListenForContainer(const std::string& path, uid_t uid) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error(Errc::kInvalidArgument, path + ": too long for the name of a socket");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return Error::FromErrno("making a container's socket", errno);
  // Nobody is let in before it is theirs alone: there is no queue yet.
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::chown(path.c_str(), uid, uid) != 0 ||
      ::listen(listener.get(), 1) != 0) {
    return Error::FromErrno("listening at " + path, errno);
  }
  return listener;
}

Result<ContainerCall> AcceptContainer(int listener_fd, uid_t uid) {
  ContainerCall call;
  call.socket.reset(::accept4(listener_fd, nullptr, nullptr, SOCK_CLOEXEC));
  if (!call.socket) return Error::FromErrno("taking a container's call", errno);
  ucred who = {};
  socklen_t size = sizeof(who);
  if (::getsockopt(call.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return Error::FromErrno("asking who called", errno);
  }
  if (who.uid != uid || who.pid <= 0) {
    return Error(Errc::kSystem, "somebody else than the container called: user " +
                                    std::to_string(who.uid) + ", process " +
                                    std::to_string(who.pid));
  }
  call.pid = who.pid;
  return call;
}

}  // namespace glovebox

#include "base/socket_pair.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

namespace glovebox {

Result<SocketPair> MakeSocketPair(std::string_view what) {
  std::array<int, 2> fds;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return Error::FromErrno("making " + std::string(what), errno);
  }
  return SocketPair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

}  // namespace glovebox

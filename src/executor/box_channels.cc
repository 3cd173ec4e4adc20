#include "executor/box_channels.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace glovebox {
namespace {

Status MakePipe(UniqueFd& read_end, UniqueFd& write_end) {
  std::array<int, 2> fds;
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) return Error::FromErrno("making a pipe", errno);
  read_end.reset(fds[0]);
  write_end.reset(fds[1]);
  return {};
}

}  // namespace

Result<BoxChannels> BoxChannels::Make() {
  BoxChannels channels;
  ServerEnds& server = channels.server;
  BoxEnds& box = channels.box;
  TRY(MakePipe(box.stdin_read, server.stdin_write));
  TRY(MakePipe(server.stdout_read, box.stdout_write));
  TRY(MakePipe(server.stderr_read, box.stderr_write));
  TRY(MakePipe(server.status_read, box.status_write));
  std::array<int, 2> gate;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate.data()) != 0) {
    return Error::FromErrno("making a gate", errno);
  }
  server.gate.reset(gate[0]);
  box.gate.reset(gate[1]);
  // Only our ends: the flag belongs to the open file, and the box's must block like anybody's.
  for (const UniqueFd* fd : {&server.stdin_write, &server.stdout_read, &server.stderr_read,
                             &server.gate, &server.status_read}) {
    if (::fcntl(fd->get(), F_SETFL, O_NONBLOCK) != 0) {
      return Error::FromErrno("making a descriptor non-blocking", errno);
    }
  }
  return channels;
}

std::vector<int> BoxEnds::List(const std::vector<int>& cgroup_fds) const {
  std::vector<int> fds = {stdin_read.get(), stdout_write.get(), stderr_write.get(), gate.get(),
                          status_write.get()};
  fds.insert(fds.end(), cgroup_fds.begin(), cgroup_fds.end());
  return fds;
}

}  // namespace glovebox

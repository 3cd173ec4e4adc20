// glovebox-python: the warm interpreter from which boxes are forked. Started by glovebox inside its
// own namespaces; the only program that links CPython.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "container/launch.h"
#include "python/wire/zygote.h"
#include "python/zygote/container_box.h"
#include "python/zygote/zygote.h"

int main(int argc, char** argv) {
  const std::string_view mode = argc >= 2 ? argv[1] : "";
  // The first process of a container, and where the server's socket is: a descriptor, or a name.
  if (mode == "container" && argc > 2) {
    const int socket_fd =
        argv[2][0] == '/' ? glovebox::zygote::CallServer(argv[2]) : std::atoi(argv[2]);
    ::_exit(glovebox::zygote::RunContainerBox(socket_fd));
  }
  // A container runtime is being tried: that this line arrives is the proof.
  if (mode == "prove") return std::puts("proven") < 0 ? 1 : 0;
  if (mode == "launch" && argc > 2) return glovebox::container::HideCgroupsAndExec(argv + 2);
  if (mode == "outlive" && argc > 2) return glovebox::container::OutliveAndExec(argv + 2);
  if (::fcntl(glovebox::wire::kZygoteSocketFd, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(glovebox::wire::kInitProgramFd, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("glovebox-python is a part of glovebox; run `glovebox exec` or `glovebox serve`\n",
               stderr);
    return 2;
  }
  // Not a return from main: nothing of the interpreter is to be torn down politely.
  ::_exit(glovebox::zygote::RunZygote(glovebox::wire::kZygoteSocketFd));
}

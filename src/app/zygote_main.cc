// glovebox-python: the warm interpreter from which boxes are forked. Started by glovebox inside its
// own namespaces; the only program that links CPython.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "python/wire/zygote.h"
#include "python/zygote/zygote.h"

int main() {
  if (::fcntl(glovebox::wire::kZygoteSocketFd, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("glovebox-python is a part of glovebox; run `glovebox exec` or `glovebox serve`\n",
               stderr);
    return 2;
  }
  // Not a return from main: nothing of the interpreter is to be torn down politely.
  ::_exit(glovebox::zygote::RunZygote(glovebox::wire::kZygoteSocketFd));
}

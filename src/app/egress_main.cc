// glovebox-egress: the way out of one box that was granted hosts. Started by glovebox, jailed, with
// the listeners of that box; see egress/egress.h.

#include <fcntl.h>

#include <cstdio>
#include <exception>

#include "egress/messages.h"
#include "egress/run_proxy.h"

int main() {
  if (::fcntl(glovebox::egress::kProxySocketFd, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("glovebox-egress is a part of glovebox, which starts it for boxes with hosts\n",
               stderr);
    return 2;
  }
  try {
    return glovebox::egress::RunProxy(glovebox::egress::kProxySocketFd);
  } catch (const std::exception&) {
    return 3;
  }
}

#pragma once

// For tests: makes this process and what it starts live on a host that refuses namespaces, the way
// a container's default system-call filter does it. There is no way back.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace glovebox::sandbox {

inline constexpr std::uint32_t kEveryNamespace = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS |
                                                 CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                                 CLONE_NEWCGROUP;

// clone and unshare with a flag of `refused` fail with EPERM; clone3, whose flags no filter can
// read, with ENOSYS. False when the filter could not be installed.
inline bool RefuseNamespaces(std::uint32_t refused) {
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kFirstArgument = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_unshare, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFirstArgument),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, refused, 2, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(code)), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace glovebox::sandbox

#include "sandbox/child/vfork_clone.h"

#include <csignal>

#include "sandbox/child/after_fork.h"
#include "sandbox/child/syscalls.h"

namespace glovebox::sandbox {
namespace {

// The call itself, as an instruction: a child that shared our stack and returned from a wrapper
// would overwrite the address that the wrapper returns to in the parent. It goes no higher than the
// frame it is born in, and begins below what the ABI lets that frame keep under its stack pointer.
AFTER_FORK long CallAndBranch(long number, long first, long second, long third,
                              void (*child)(const void*), const void* argument) noexcept {
#if defined(__x86_64__)
  register long fourth asm("r10") = 0;
  register long fifth asm("r8") = 0;
  long result = number;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "sub $128, %%rsp\n\t"
      "and $-16, %%rsp\n\t"
      "mov %[argument], %%rdi\n\t"
      "call *%[child]\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(first), "S"(second), "d"(third), "r"(fourth),
        "r"(fifth), [child] "r"(child), [argument] "r"(argument)
      : "rcx", "r11", "memory", "cc");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = first;
  register long x1 asm("x1") = second;
  register long x2 asm("x2") = third;
  register long x3 asm("x3") = 0;
  register long x4 asm("x4") = 0;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x0, %[argument]\n\t"
      "blr %[child]\n\t"
      "brk #1\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [child] "r"(child), [argument] "r"(argument)
      : "memory", "cc");
  return x0;
#else
#error "glovebox knows how to make boxes on x86-64 and aarch64"
#endif
}

}  // namespace

AFTER_FORK long VforkClone(clone_args args, void (*child)(const void*),
                           const void* argument) noexcept {
  args.flags |= CLONE_VM | CLONE_VFORK;
  long result =
      CallAndBranch(SYS_clone3, reinterpret_cast<long>(&args), sizeof(args), 0, child, argument);
  // A container's filter, which cannot read the flags of clone3. Being born into a cgroup has no
  // older form.
  if (result == -ENOSYS && (args.flags & CLONE_INTO_CGROUP) == 0) {
    const long flags = static_cast<long>(args.flags | args.exit_signal);
    result = CallAndBranch(SYS_clone, flags, 0, static_cast<long>(args.pidfd), child, argument);
  }
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace glovebox::sandbox

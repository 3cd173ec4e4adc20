// glovebox-init: PID 1 of a box. Started by glovebox-python, already inside the box and without any
// privilege; reaps, and when Python has ended kills what is left, reports how Python ended and ends
// itself, which ends the PID namespace.
//
// Nothing is linked with it, not even a C library: there is one for every box, and the start of a
// program with one costs ten times as much as all that this one does.

#include <asm/unistd.h>
#include <linux/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "sandbox/init/kernel_call.h"
#include "sandbox/plan/child_plan.h"
#include "sandbox/plan/init_plan.h"

namespace glovebox::sandbox {
namespace {

[[noreturn]] void End(int code) noexcept {
  while (true) KernelCall(__NR_exit_group, code);
}

std::uint64_t Microseconds(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

// The box waits for this: none of its code has run yet.
void Start(const InitPlan& plan) noexcept {
  const char name[] = "glovebox-init";
  KernelCall(__NR_prctl, PR_SET_NAME, Address(name));
  if (plan.hidden && KernelCall(__NR_prctl, PR_SET_DUMPABLE, 0) != 0) End(126);
  const char word = '1';
  if (KernelCall(__NR_write, kInitStartedFd, Address(&word), 1) != 1) End(126);
  KernelCall(__NR_close, kInitStartedFd);
}

// The next child that has ended, not yet reaped. In a group of the host's, an order to end the box
// comes by signal meanwhile.
pid_t NextInGroup(pid_t python_pid) noexcept {
  while (true) {
    siginfo_t ended;
    ended.si_pid = 0;
    constexpr int kPeek = WEXITED | WNOWAIT | WNOHANG | __WALL;
    const long looked = KernelCall(__NR_waitid, P_ALL, 0, Address(&ended), kPeek);
    if (looked < 0 && looked != -EINTR) return -1;
    if (ended.si_pid != 0) return ended.si_pid;
    const long signal =
        KernelCall(__NR_rt_sigtimedwait, Address(&kInitSignals), 0, 0, sizeof(kInitSignals));
    if (signal == SIGTERM) KernelCall(__NR_kill, -python_pid, SIGKILL);
  }
}

// Reaps until Python is among the dead; orphans of the box come by and are forgotten.
void AwaitPython(const InitPlan& plan, StatusRecord& record) noexcept {
  while (true) {
    const pid_t next = plan.scope == PidScope::kGroup ? NextInGroup(plan.python_pid) : -1;
    // While Python is not reaped its number, and so the group's, is nobody else's. A killed group
    // takes nobody in: a fork under way fails, or its child is killed with the rest.
    if (next == plan.python_pid) KernelCall(__NR_kill, -plan.python_pid, SIGKILL);
    int status = 0;
    rusage usage;
    const long pid = KernelCall(__NR_wait4, next, Address(&status), __WALL, Address(&usage));
    if (pid == plan.python_pid) {
      record.wait_status = status;
      record.cpu_us = Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime);
      return;
    }
    if (pid < 0 && pid != -EINTR) {  // unreachable while Python is our child
      record.wait_status = SIGKILL;
      return;
    }
  }
}

void ReapTheRest() noexcept {
  long pid = 0;
  do {
    pid = KernelCall(__NR_wait4, -1, 0, __WALL);
  } while (pid > 0 || pid == -EINTR);
}

[[noreturn]] void Run(const InitPlan& plan) noexcept {
  Start(plan);
  StatusRecord record = {};
  record.kind = StatusKind::kEnded;
  AwaitPython(plan, record);
  if (plan.scope == PidScope::kOwn) KernelCall(__NR_kill, -1, SIGKILL);
  if (plan.scope != PidScope::kHost) ReapTheRest();
  KernelCall(__NR_write, kInitStatusFd, Address(&record), sizeof(record));
  End(0);
}

// Started by somebody else: there is no box to look after.
[[noreturn]] void Explain() noexcept {
  const char text[] = "glovebox-init is a part of glovebox, which starts it in every box\n";
  KernelCall(__NR_write, 2, Address(text), sizeof(text) - 1);
  End(2);
}

}  // namespace
}  // namespace glovebox::sandbox

// What the kernel leaves on the stack of a new program: argc, then argv.
extern "C" [[noreturn]] void EnterInit(const long* stack) noexcept {
  const char* const* argv = reinterpret_cast<const char* const*>(stack + 1);
  if (stack[0] != 2) glovebox::sandbox::Explain();
  glovebox::sandbox::Run(glovebox::sandbox::DecodeInitPlan(argv[1]));
}

asm(".globl _start\n"
    "_start:\n\t"
#if defined(__x86_64__)
    "xor %ebp, %ebp\n\t"
    "mov %rsp, %rdi\n\t"
    "and $-16, %rsp\n\t"
    "call EnterInit\n");
#elif defined(__aarch64__)
    "mov x0, sp\n\t"
    "bl EnterInit\n");
#endif

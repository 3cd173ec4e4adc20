// Proves policies/seccomp/python.toml: every entry by evaluating the compiled filter, what must
// never be allowed by a list of its own, and the shipped table in the running kernel.
#include "sandbox/compile/filters.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policy/syscall_policy.h"
#include "sandbox/compile/bpf_evaluator.h"
#include "sandbox/compile/filter_compiler.h"
#include "sandbox/compile/python_filter.inc"

namespace glovebox {
namespace {

using Args = std::array<std::uint64_t, 6>;

constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kEnosys = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kPretended = SECCOMP_RET_ERRNO | 0;  // returns 0 and is not made
constexpr std::uint32_t kX32SyscallBit = 0x40000000;
// Beyond every number that a kernel of today has on either architecture.
constexpr std::uint32_t kNumbersToSweep = 2048;

std::uint32_t ErrnoAction(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

// Registers that a call without tests must not care about.
std::vector<Args> AnyArgs() {
  Args all_ones, high_garbage;
  all_ones.fill(~0ull);
  high_garbage.fill(0xDEADBEEF00000001);
  return {Args{}, all_ones, high_garbage};
}

// The policy file and its filter for one architecture.
class PythonFilterTest : public ::testing::TestWithParam<Arch> {
 protected:
  void SetUp() override {
    std::ifstream file(GLOVEBOX_PYTHON_POLICY);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    auto policy = ParseSyscallPolicy(text);
    ASSERT_TRUE(policy.ok()) << policy.error().message();
    policy_ = std::move(policy).value();
    auto program = CompileFilter(policy_, GetParam());
    ASSERT_TRUE(program.ok()) << program.error().message();
    program_ = std::move(program).value();
    auto watched = WatchedCalls(policy_, GetParam());
    ASSERT_TRUE(watched.ok()) << watched.error().message();
    watched_ = std::move(watched).value();
  }

  std::uint32_t Evaluate(std::uint32_t audit_arch, std::uint32_t nr, const Args& args) const {
    seccomp_data data = {};
    data.nr = static_cast<int>(nr);
    data.arch = audit_arch;
    std::copy(args.begin(), args.end(), data.args);
    const auto action = EvaluateBpf(program_, data);
    EXPECT_TRUE(action.ok()) << action.error().message();
    if (!action.ok()) return 0;
    return *action == SECCOMP_RET_USER_NOTIF ? SupervisorsAnswer(nr) : *action;
  }

  // What the supervisor answers to a call that is handed to it.
  std::uint32_t SupervisorsAnswer(std::uint32_t nr) const {
    for (const WatchedCallRule& call : watched_) {
      if (call.number == nr) return ErrnoAction(call.error);
    }
    ADD_FAILURE() << "call " << nr << " is handed to the supervisor, which does not know it";
    return 0;
  }

  std::uint32_t Evaluate(std::uint32_t nr, const Args& args) const {
    return Evaluate(AuditArch(GetParam()), nr, args);
  }

  std::optional<std::uint32_t> Number(const std::string& call) const {
    const auto number = SyscallNumber(call, GetParam());
    EXPECT_TRUE(number.ok()) << number.error().message();
    return number.ok() ? *number : std::nullopt;
  }

  // Expects an answer for a call by name, if this architecture has it.
  void Expect(const std::string& call, const Args& args, std::uint32_t action) const {
    if (const auto number = Number(call)) {
      EXPECT_EQ(Evaluate(*number, args), action)
          << call << std::hex << " " << args[0] << " " << args[1] << " " << args[2] << " "
          << args[3] << " " << args[4];
    }
  }

  SyscallPolicy policy_;
  std::vector<sock_filter> program_;
  std::vector<WatchedCallRule> watched_;
};

INSTANTIATE_TEST_SUITE_P(Arches, PythonFilterTest, ::testing::Values(Arch::kX86_64, Arch::kAarch64),
                         [](const auto& instance) {
                           return instance.param == Arch::kX86_64 ? "X86_64" : "Aarch64";
                         });

// ---- every entry, driven by the data ------------------------------------------------------------

using Tests = std::vector<ArgumentTest>;

// Arguments that pass every test of a list, with the bits outside of the masks clear or set.
Args PassingArgs(const Tests& tests, std::uint64_t outside) {
  Args args;
  args.fill(outside);
  for (const ArgumentTest& test : tests) {
    std::uint64_t& arg = args[static_cast<std::size_t>(test.arg)];
    arg = (arg & ~test.mask) | test.values.front();
  }
  return args;
}

bool Holds(const Tests& tests, const Args& args) {
  return std::all_of(tests.begin(), tests.end(), [&args](const ArgumentTest& test) {
    const std::uint64_t value = args[static_cast<std::size_t>(test.arg)] & test.mask;
    return std::count(test.values.begin(), test.values.end(), value) != 0;
  });
}

// What the entry says about a call, straight from the file.
std::uint32_t AnswerOf(const AllowRule& rule, const Args& args) {
  if (!rule.pretend.empty() && Holds(rule.pretend, args)) return kPretended;
  return Holds(rule.when, args) ? std::uint32_t{SECCOMP_RET_ALLOW} : ErrnoAction(rule.otherwise);
}

// Arguments that pass every test of a list, with each value that a test names, and with garbage
// above the bits that the kernel reads.
std::vector<Args> NamedArgs(const Tests& tests) {
  std::vector<Args> named;
  for (const ArgumentTest& test : tests) {
    for (const std::uint64_t outside : {0ull, ~0ull, 0xDEADBEEFull << 32}) {
      for (const std::uint64_t value : test.values) {
        Args args = PassingArgs(tests, outside);
        std::uint64_t& arg = args[static_cast<std::size_t>(test.arg)];
        arg = (arg & ~test.mask) | value;
        named.push_back(args);
      }
    }
  }
  return named;
}

// The same with one bit of one value wrong, so that the list does not hold.
std::vector<Args> NeighbourArgs(const Tests& tests) {
  std::vector<Args> neighbours;
  for (const ArgumentTest& test : tests) {
    for (const Args& named : NamedArgs(tests)) {
      for (int bit = 0; bit < 64; ++bit) {
        if (((1ull << bit) & test.mask) == 0) continue;
        Args args = named;
        args[static_cast<std::size_t>(test.arg)] ^= 1ull << bit;
        if (!Holds(tests, args)) neighbours.push_back(args);
      }
    }
  }
  return neighbours;
}

TEST_P(PythonFilterTest, AllowsWhatAnEntryAllowsAtOnce) {
  for (const AllowRule& rule : policy_.allow) {
    if (!rule.when.empty()) continue;
    for (const std::string& call : rule.calls) {
      for (const Args& args : AnyArgs()) Expect(call, args, SECCOMP_RET_ALLOW);
    }
  }
}

TEST_P(PythonFilterTest, AllowsEveryValueThatATestNames) {
  for (const AllowRule& rule : policy_.allow) {
    for (const Args& args : NamedArgs(rule.when)) {
      for (const std::string& call : rule.calls) Expect(call, args, SECCOMP_RET_ALLOW);
    }
  }
}

TEST_P(PythonFilterTest, PretendsEveryValueThatAPretendNames) {
  std::set<std::string> pretended;
  for (const AllowRule& rule : policy_.allow) {
    for (const Args& args : NamedArgs(rule.pretend)) {
      for (const std::string& call : rule.calls) {
        Expect(call, args, kPretended);
        pretended.insert(call);
      }
    }
  }
  EXPECT_EQ(pretended, std::set<std::string>{"fcntl"});
}

// Every value that is one bit away from a named one is refused, unless the other list names it.
TEST_P(PythonFilterTest, RefusesNeighboursOfEveryValueThatATestNames) {
  for (const AllowRule& rule : policy_.allow) {
    for (const Tests& tests : {rule.when, rule.pretend}) {
      for (const Args& args : NeighbourArgs(tests)) {
        for (const std::string& call : rule.calls) Expect(call, args, AnswerOf(rule, args));
      }
    }
  }
}

TEST_P(PythonFilterTest, RefusesWhatAnEntryDenies) {
  for (const DenyRule& rule : policy_.deny) {
    for (const std::string& call : rule.calls) {
      for (const Args& args : AnyArgs()) Expect(call, args, ErrnoAction(rule.error));
    }
  }
}

TEST_P(PythonFilterTest, HandsEveryRefusalToTheSupervisor) {
  std::size_t handed_over = 0;
  for (const DenyRule& rule : policy_.deny) {
    for (const std::string& call : rule.calls) {
      const auto number = Number(call);
      if (!number) continue;
      seccomp_data data = {};
      data.nr = static_cast<int>(*number);
      data.arch = AuditArch(GetParam());
      const auto action = EvaluateBpf(program_, data);
      ASSERT_TRUE(action.ok());
      EXPECT_EQ(*action, SECCOMP_RET_USER_NOTIF) << call;
      ++handed_over;
    }
  }
  EXPECT_GT(handed_over, 50u);
}

TEST_P(PythonFilterTest, AnswersEnosysToEveryNumberThatNoEntryNames) {
  std::set<std::uint32_t> named;
  const auto add = [&](const std::vector<std::string>& calls) {
    for (const std::string& call : calls) {
      if (const auto number = Number(call)) named.insert(*number);
    }
  };
  for (const AllowRule& rule : policy_.allow) add(rule.calls);
  for (const DenyRule& rule : policy_.deny) add(rule.calls);
  for (std::uint32_t nr = 0; nr < kNumbersToSweep; ++nr) {
    if (named.contains(nr)) continue;
    for (const Args& args : AnyArgs()) EXPECT_EQ(Evaluate(nr, args), kEnosys) << nr;
  }
  EXPECT_EQ(Evaluate(0xFFFFFFFF, Args{}), kEnosys) << "syscall(-1)";
}

TEST_P(PythonFilterTest, KillsCallsOfOtherArchitectures) {
  for (const std::uint32_t audit_arch : std::initializer_list<std::uint32_t>{
           AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64,
           AUDIT_ARCH_RISCV64, 0, 0xFFFFFFFF}) {
    if (audit_arch == AuditArch(GetParam())) continue;
    for (std::uint32_t nr = 0; nr < kNumbersToSweep; ++nr) {
      EXPECT_EQ(Evaluate(audit_arch, nr, Args{}), SECCOMP_RET_KILL_PROCESS);
    }
  }
}

// On x86-64 these are the x32 calls; elsewhere they are numbers like any other unknown one.
TEST_P(PythonFilterTest, KillsX32Calls) {
  const std::uint32_t action =
      GetParam() == Arch::kX86_64 ? std::uint32_t{SECCOMP_RET_KILL_PROCESS} : kEnosys;
  for (std::uint32_t nr = 0; nr < kNumbersToSweep; ++nr) {
    EXPECT_EQ(Evaluate(kX32SyscallBit | nr, Args{}), action);
  }
  EXPECT_EQ(Evaluate(0x80000000, Args{}), action);
  EXPECT_EQ(Evaluate(0xFFFFFFFE, Args{}), action);
}

// ---- what must hold whatever the file says ------------------------------------------------------

TEST_P(PythonFilterTest, NeverAllowsTheDangerousCalls) {
  for (const char* call : {"execve",
                           "execveat",
                           "socket",
                           "connect",
                           "bind",
                           "listen",
                           "accept",
                           "accept4",
                           "bpf",
                           "perf_event_open",
                           "userfaultfd",
                           "keyctl",
                           "add_key",
                           "request_key",
                           "ptrace",
                           "process_vm_readv",
                           "process_vm_writev",
                           "process_madvise",
                           "pidfd_getfd",
                           "kcmp",
                           "mount",
                           "umount2",
                           "open_tree",
                           "fsopen",
                           "fsconfig",
                           "fsmount",
                           "fspick",
                           "move_mount",
                           "mount_setattr",
                           "pivot_root",
                           "chroot",
                           "unshare",
                           "setns",
                           "kexec_load",
                           "kexec_file_load",
                           "init_module",
                           "finit_module",
                           "delete_module",
                           "swapon",
                           "swapoff",
                           "reboot",
                           "settimeofday",
                           "clock_settime",
                           "adjtimex",
                           "clock_adjtime",
                           "open_by_handle_at",
                           "name_to_handle_at",
                           "fanotify_init",
                           "fanotify_mark",
                           "quotactl",
                           "quotactl_fd",
                           "ioperm",
                           "iopl",
                           "modify_ldt",
                           "vhangup",
                           "seccomp",
                           "io_uring_setup",
                           "io_uring_enter",
                           "io_uring_register",
                           "acct",
                           "syslog",
                           "setuid",
                           "setgid",
                           "setreuid",
                           "setregid",
                           "setresuid",
                           "setresgid",
                           "setfsuid",
                           "setfsgid",
                           "setgroups",
                           "capset",
                           "sethostname",
                           "setdomainname",
                           "landlock_create_ruleset",
                           "landlock_add_rule",
                           "landlock_restrict_self",
                           "move_pages",
                           "migrate_pages",
                           "lookup_dcookie",
                           "nfsservctl",
                           "shmget",
                           "msgget",
                           "mq_open"}) {
    for (const Args& args : AnyArgs()) Expect(call, args, kEperm);
  }
}

TEST_P(PythonFilterTest, CallsThatHideTheirArgumentsLookAbsent) {
  for (const Args& args : AnyArgs()) {
    Expect("clone3", args, kEnosys);
    Expect("openat2", args, kEnosys);
    Expect("mbind", args, kEnosys);  // of OpenBLAS, which does without
  }
}

// Tried by OpenBLAS for every buffer: refused without an event.
TEST_P(PythonFilterTest, MemoryPoliciesLookAbsent) {
  for (const Args& args : AnyArgs()) {
    Expect("mbind", args, kEnosys);
  }
}

TEST_P(PythonFilterTest, CloneMakesThreadsAndProcessesButNoNamespaces) {
  Expect("clone", {0x01200011}, SECCOMP_RET_ALLOW);  // fork() of glibc
  Expect("clone", {0x003D0F00}, SECCOMP_RET_ALLOW);  // pthread_create() of glibc
  Expect("clone", {0x00004111}, SECCOMP_RET_ALLOW);  // vfork() of glibc on aarch64
  for (const std::uint64_t flag : {0x00020000ull, 0x02000000ull, 0x04000000ull, 0x08000000ull,
                                   0x10000000ull, 0x20000000ull, 0x40000000ull, 0x80ull}) {
    Expect("clone", {flag | 17}, kEperm);
    Expect("clone", {0xFFFFFFFF00000000 | flag | 17}, kEperm);
  }
}

TEST_P(PythonFilterTest, OnlyUnixStreamPairsWithoutAddresses) {
  constexpr std::uint64_t kCloexec = 0x80000, kNonblock = 0x800;
  Expect("socketpair", {1, 1}, SECCOMP_RET_ALLOW);
  Expect("socketpair", {1, 1 | kCloexec | kNonblock}, SECCOMP_RET_ALLOW);
  Expect("socketpair", {1, 2 | kCloexec}, kEperm);  // SOCK_DGRAM
  Expect("socketpair", {1, 5}, kEperm);             // SOCK_SEQPACKET
  Expect("socketpair", {30, 1}, kEperm);            // AF_TIPC
  Expect("socketpair", {0x10000001E, 1}, kEperm);
  Expect("sendto", {3, 0, 0, 0, 0, 0}, SECCOMP_RET_ALLOW);
  Expect("sendto", {3, 0, 0, 0, 0x7FFF00000000, 0}, kEperm);
  Expect("sendto", {3, 0, 0, 0, 0x1000, 0}, kEperm);
  Expect("setsockopt", {3, 1, 7}, SECCOMP_RET_ALLOW);
  Expect("setsockopt", {3, 1, 26}, kEperm);  // SO_ATTACH_FILTER
  Expect("setsockopt", {3, 1, 50}, kEperm);  // SO_ATTACH_BPF
}

TEST_P(PythonFilterTest, TerminalsCannotBeDriven) {
  Expect("ioctl", {0, 0x5401}, SECCOMP_RET_ALLOW);
  for (const std::uint64_t high : {0ull, 1ull << 32, 0xFFFFFFFFull << 32}) {
    for (const std::uint64_t command :
         {0x5412ull /* TIOCSTI */, 0x541Cull /* TIOCLINUX */, 0x5423ull /* TIOCSETD */,
          0x541Dull /* TIOCCONS */, 0x540Eull /* TIOCSCTTY */, 0x5410ull /* TIOCSPGRP */}) {
      Expect("ioctl", {0, high | command}, kEperm);
    }
  }
}

TEST_P(PythonFilterTest, ProcessesCannotChangeHowTheyAreHeld) {
  for (const unsigned option :
       {4u /* DUMPABLE */, 8u /* KEEPCAPS */, 22u /* SECCOMP */, 24u /* CAPBSET_DROP */,
        26u /* TSC */, 28u /* SECUREBITS */, 35u /* MM */, 36u /* CHILD_SUBREAPER */,
        38u /* NO_NEW_PRIVS */, 47u /* CAP_AMBIENT */, 53u /* SPECULATION_CTRL */,
        62u /* SCHED_CORE */, 0x59616d61u /* PTRACER */}) {
    Expect("prctl", {option}, kEperm);
    Expect("prctl", {option | 1ull << 32}, kEperm);
  }
  Expect("prctl", {15}, SECCOMP_RET_ALLOW);
  Expect("personality", {0xFFFFFFFF}, SECCOMP_RET_ALLOW);
  Expect("personality", {0x40000}, kEperm);  // ADDR_NO_RANDOMIZE
  Expect("personality", {0x100040000}, kEperm);
}

// The memory of a record lock is charged to nobody.
TEST_P(PythonFilterTest, RecordLocksAreNeverMade) {
  for (const std::uint64_t high : {0ull, 1ull << 32, 0xFFFFFFFFull << 32}) {
    for (const std::uint64_t command : {6ull /* F_SETLK */, 7ull /* F_SETLKW */,
                                        37ull /* F_OFD_SETLK */, 38ull /* F_OFD_SETLKW */}) {
      Expect("fcntl", {3, high | command}, kPretended);
    }
    Expect("fcntl", {3, high | 5 /* F_GETLK */}, SECCOMP_RET_ALLOW);
    Expect("fcntl", {3, high | 36 /* F_OFD_GETLK */}, SECCOMP_RET_ALLOW);
    Expect("fcntl", {3, high | 1024 /* F_SETLEASE */}, kEperm);
  }
}

TEST_P(PythonFilterTest, NoDevicesAndNoHugePages) {
  Expect("mknodat", {0, 0, 0x1000 | 0600}, SECCOMP_RET_ALLOW);
  Expect("mknodat", {0, 0, 0x2000 | 0600, 0x103}, kEperm);
  Expect("mknodat", {0, 0, 0x6000 | 0600, 0x800}, kEperm);
  Expect("mknod", {0, 0x2000 | 0600, 0x103}, kEperm);
  Expect("mmap", {0, 4096, 3, 0x22}, SECCOMP_RET_ALLOW);
  Expect("mmap", {0, 4096, 3, 0x40022}, kEperm);
  Expect("memfd_create", {0, 4}, kEperm);
}

TEST_P(PythonFilterTest, EveryNameExistsSomewhere) {
  const auto check = [](const std::vector<std::string>& calls) {
    for (const std::string& call : calls) {
      const auto on_x86_64 = SyscallNumber(call, Arch::kX86_64);
      const auto on_aarch64 = SyscallNumber(call, Arch::kAarch64);
      ASSERT_TRUE(on_x86_64.ok() && on_aarch64.ok()) << call;
      EXPECT_TRUE(on_x86_64->has_value() || on_aarch64->has_value()) << call << " is a dead entry";
    }
  };
  for (const AllowRule& rule : policy_.allow) check(rule.calls);
  for (const DenyRule& rule : policy_.deny) check(rule.calls);
}

TEST_P(PythonFilterTest, TheShippedTableIsTheCompiledPolicy) {
  const std::span<const sock_filter> shipped =
      GetParam() == Arch::kX86_64 ? std::span<const sock_filter>(kPythonFilterX86_64)
                                  : std::span<const sock_filter>(kPythonFilterAarch64);
  EXPECT_TRUE(std::equal(shipped.begin(), shipped.end(), program_.begin(), program_.end(),
                         [](const sock_filter& a, const sock_filter& b) {
                           return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
                         }));
}

// ---- the running kernel -------------------------------------------------------------------------

void InstallOrExit() {
  const auto filter = PythonFilter();
  sock_fprog program = {};
  program.len = static_cast<unsigned short>(filter.size());
  program.filter = const_cast<sock_filter*>(filter.data());
  const rlimit no_core = {0, 0};
  if (setrlimit(RLIMIT_CORE, &no_core) != 0) _exit(101);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(102);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) _exit(103);
}

// Runs `body` under the shipped filter in a child; gives the child's wait status. `body` returns
// the number of the check that failed, or 0.
template <typename Body>
int StatusUnderFilter(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    InstallOrExit();
    _exit(body());
  }
  EXPECT_GT(child, 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool FailsWith(int error, long result) { return result == -1 && errno == error; }

// A call for the supervisor fails with ENOSYS where there is none.
TEST(PythonFilterKernelTest, RefusesAlsoWhereNobodySupervises) {
  const int status = StatusUnderFilter([] {
    if (syscall(SYS_getpid) <= 0) return 1;
    if (!FailsWith(ENOSYS, syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0))) return 2;
    if (!FailsWith(ENOSYS, syscall(2000))) return 3;
    if (!FailsWith(ENOSYS, syscall(-1))) return 4;
    if (!FailsWith(ENOSYS, syscall(SYS_clone3, nullptr, 0))) return 5;
    if (!FailsWith(ENOSYS, syscall(SYS_ioctl, 0, 0x100005412ul, nullptr))) return 6;
    if (!FailsWith(ENOSYS, syscall(SYS_clone, 0x10000011ul, 0, 0, 0, 0))) return 7;
    if (!FailsWith(ENOSYS, syscall(SYS_execve, "/nothing", nullptr, nullptr))) return 8;
    if (!FailsWith(ENOSYS, syscall(SYS_socket, 1, 1, 0))) return 9;
    return 0;
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PythonFilterKernelTest, ARecordLockSucceedsAndIsNotThere) {
  const int status = StatusUnderFilter([] {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    // Without a file there is no lock to make.
    for (const int command : {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW}) {
      if (syscall(SYS_fcntl, -1, command, &lock) != 0) return 1;
    }
    return FailsWith(EBADF, syscall(SYS_fcntl, -1, F_GETLK, &lock)) ? 0 : 2;
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PythonFilterKernelTest, AnAddressOnAStreamPairIsRefusedByTheKernel) {
  // The policy lets sendmsg pass because of this.
  const int status = StatusUnderFilter([] {
    int pair[2];
    if (syscall(SYS_socketpair, 1, 1, 0, pair) != 0) return 1;
    unsigned short address[2] = {1 /* AF_UNIX */, 0x7800};
    msghdr message = {};
    message.msg_name = address;
    message.msg_namelen = sizeof(address);
    return FailsWith(EISCONN, syscall(SYS_sendmsg, pair[0], &message, 0)) ? 0 : 2;
  });
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

#if defined(__x86_64__)
TEST(PythonFilterKernelTest, AnX32CallKills) {
  const int status = StatusUnderFilter([] {
    syscall(kX32SyscallBit | SYS_getpid);
    return 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

TEST(PythonFilterKernelTest, AnI386CallKills) {
  const int status = StatusUnderFilter([] {
    long result = 20;  // getpid of i386
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  // A kernel without i386 calls answers int 0x80 with SIGSEGV: no way in either.
  EXPECT_TRUE(WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV) << WTERMSIG(status);
}
#endif

}  // namespace
}  // namespace glovebox

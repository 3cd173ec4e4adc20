#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/syscall_policy.h"
#include "sandbox/compile/box_footing.h"

// SyscallPolicy -> classic BPF for SECCOMP_SET_MODE_FILTER. Runs while Glovebox is built and in
// tests; what ships is its output (filters.h).
namespace glovebox {

enum class Arch { kX86_64, kAarch64 };

// The kernel's own bound on one filter (BPF_MAXINSNS).
inline constexpr std::size_t kFilterLengthMax = 4096;

// The value that the kernel puts into seccomp_data::arch for calls of this architecture.
std::uint32_t AuditArch(Arch arch);

// The number of a system call; no value when the call exists, but not on `arch` (open on aarch64).
// A name that libseccomp does not know at all is an error: it is more likely misspelt than new.
Result<std::optional<std::uint32_t>> SyscallNumber(const std::string& name, Arch arch);

// Compiles a policy. The program answers, for every possible seccomp_data:
//   another architecture          KILL_PROCESS (its numbers mean other calls)
//   x32 numbers, on x86-64        KILL_PROCESS (the same calls past every number-based rule)
//   a call in [[allow]]           ERRNO(0), which returns 0, when every test of `pretend` holds;
//                                 else ALLOW, or a refusal when a test of `when` fails
//   a call in [[deny]]            a refusal; so is one whose needs are not met
//   a call in [[observe]]         ALLOW when every test of `unseen` holds; else ERRNO(otherwise)
//                                 when a test of `when` fails; else USER_NOTIF
//   everything else, also nr -1   ERRNO(default_error)
// A refusal is USER_NOTIF: the supervisor answers with the errno of the call's WatchedCallRule and
// records the attempt. Without a supervisor the kernel answers ENOSYS: refused all the same. In a
// container it is ERRNO with that same errno.
// Calls that `arch` does not have are skipped. Errors: an unknown name (kInvalidArgument), a
// program beyond kFilterLengthMax (kLimit).
//
// Only the names come from libseccomp. Its rules cannot say "these values, otherwise EPERM, and
// ENOSYS for other calls": a rule without tests replaces the tested rules of the same call, and
// there is no masked inequality. So the program is generated here, and proven by evaluation.
Result<std::vector<sock_filter>> CompileFilter(const SyscallPolicy& policy, Arch arch,
                                               BoxFooting footing = BoxFooting::kCgroup);

// A call whose refusals the supervisor answers.
struct WatchedCallRule {
  std::uint32_t number = 0;
  int error = 0;  // 0: observed, and then made
  std::string name;
  std::string why;  // of the policy's entry
};

// The calls that the program of CompileFilter hands to the supervisor, by number.
Result<std::vector<WatchedCallRule>> WatchedCalls(const SyscallPolicy& policy, Arch arch,
                                                  BoxFooting footing = BoxFooting::kCgroup);

}  // namespace glovebox

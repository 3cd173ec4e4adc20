#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Which system calls a box may make, as data. The files are policies/seccomp/*.toml and say
// themselves how they are read; sandbox/compile turns the values here into a kernel filter.
namespace glovebox {

// One test of one argument register: (argument & mask) is one of `values`.
//
// The kernel reads most arguments as 32-bit values, so the mask covers the low 32 bits unless the
// file asks for 64: bits that the kernel ignores must not decide. Parsing guarantees: `arg` is
// 0..5, `mask` is not 0, `values` is not empty, every value fits the mask, and a mask beyond 32
// bits comes with exactly one value.
struct ArgumentTest {
  int arg = 0;
  std::uint64_t mask = 0xFFFFFFFF;
  std::vector<std::uint64_t> values;
};

// Calls that the kernel runs if every test in `when` holds (at once when there is none), and that
// fail with `otherwise` if not. If every test in `pretend` holds (never when there is none), the
// call is not made and returns 0. Parsing guarantees: `pretend` comes with `when`, and no call can
// match both.
struct AllowRule {
  std::vector<std::string> calls;
  std::vector<ArgumentTest> pretend;
  std::vector<ArgumentTest> when;
  int otherwise = 0;              // an errno value; 0 exactly when `when` is empty
  bool needs_cgroup = false;      // refused with EPERM where no cgroup counts the box's memory
  std::string why;                // who needs these calls
  bool needs_namespaces = false;  // refused with EPERM where the box shares the host's
  std::vector<ArgumentTest> without_namespaces = {};  // tests that hold as well in such a box
};

// Calls that always fail with `error`. Separate from what the default refuses because an attempt is
// worth an event.
struct DenyRule {
  std::vector<std::string> calls;
  int error = 0;    // an errno value
  std::string why;  // the danger
};

// Calls that the kernel runs, under the eyes of the supervisor, if every test in `when` holds, and
// that fail with `otherwise` if not. If every test in `unseen` holds (never when there is none),
// they run without its knowledge. What may be done is decided elsewhere: this is for naming what
// was refused there.
struct ObserveRule {
  std::vector<std::string> calls;
  std::vector<ArgumentTest> unseen;
  std::vector<ArgumentTest> when;
  int otherwise = 0;  // an errno value; 0 exactly when `when` is empty
  std::string why;    // what the supervisor learns
};

// A call is in at most one rule. Names are not checked against any architecture here: that is the
// compiler's knowledge.
struct SyscallPolicy {
  std::vector<AllowRule> allow;
  std::vector<DenyRule> deny;
  std::vector<ObserveRule> observe = {};
  int default_error = 0;  // what every other call fails with
};

// Reads a policy file's text. Strict, because a key that is ignored is a wall that is not there:
// unknown keys, a call named twice, a missing `why`, an errno we do not know are errors
// (kInvalidArgument) that name the entry, the rule it breaks and the fix.
Result<SyscallPolicy> ParseSyscallPolicy(std::string_view toml_text);

}  // namespace glovebox

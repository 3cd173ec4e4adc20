#include "sandbox/compile/filter_compiler.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace glovebox {
namespace {

// Straight-line pieces of program that end in a return on every path and jump only within
// themselves, so that they can be put one after the other without patching.
using Code = std::vector<sock_filter>;

constexpr std::uint32_t kX32SyscallBit = 0x40000000;
constexpr std::uint32_t kNoSyscall = 0xFFFFFFFF;  // syscall(-1)
constexpr std::size_t kShortJumpMax = std::numeric_limits<std::uint8_t>::max();

sock_filter Load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// Jumps over `distance` instructions. Conditional jumps have 8 bits of distance, this one 32.
sock_filter Jump(std::size_t distance) {
  return BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(distance));
}

sock_filter Return(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

sock_filter ReturnErrno(int error) {
  return Return(SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA));
}

// Jumps over `if_true` or `if_false` instructions.
sock_filter JumpIf(std::uint16_t comparison, std::uint32_t value, std::size_t if_true,
                   std::size_t if_false) {
  CHECK(if_true <= kShortJumpMax && if_false <= kShortJumpMax);
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), value,
                  static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false));
}

void Append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

bool SameCode(const Code& a, const Code& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const sock_filter& x, const sock_filter& y) {
                      return x.code == y.code && x.jt == y.jt && x.jf == y.jf && x.k == y.k;
                    });
}

std::uint32_t ScmpArch(Arch arch) {
  return arch == Arch::kX86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64;
}

// ---- the tests of one call ----------------------------------------------------------------------

// BPF compares 32 bits at a time; both architectures are little-endian.
enum class Half { kLow, kHigh };

// Goes on with the code behind it if the half register is one of the values, else `otherwise`.
Status AppendHalfTest(Code& code, const ArgumentTest& test, Half half, sock_filter otherwise) {
  const int shift = half == Half::kHigh ? 32 : 0;
  const auto mask = static_cast<std::uint32_t>(test.mask >> shift);
  if (test.values.size() > kShortJumpMax) {
    return Error(Errc::kLimit, "`one_of` has more than 255 values: one jump cannot span them");
  }
  code.push_back(Load(offsetof(seccomp_data, args) +
                      static_cast<std::size_t>(test.arg) * sizeof(std::uint64_t) +
                      (half == Half::kHigh ? sizeof(std::uint32_t) : 0)));
  if (mask != std::numeric_limits<std::uint32_t>::max()) {
    code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
  }
  // Each match jumps over the comparisons that are left and the return.
  std::size_t left = test.values.size();
  for (const std::uint64_t value : test.values) {
    code.push_back(JumpIf(BPF_JEQ, static_cast<std::uint32_t>(value >> shift), left, 0));
    --left;
  }
  code.push_back(otherwise);
  return {};
}

// Goes on with the code behind it if the test holds, else `otherwise`.
Status AppendTest(Code& code, const ArgumentTest& test, sock_filter otherwise) {
  // The halves are tested one after the other, which for several 64-bit values would mix them.
  const bool is_wide = (test.mask >> 32) != 0;
  CHECK(!is_wide || test.values.size() == 1);
  if (is_wide) {
    if (Status high = AppendHalfTest(code, test, Half::kHigh, otherwise); !high) return high;
  }
  return AppendHalfTest(code, test, Half::kLow, otherwise);
}

// Returns `answer` if every test holds, else goes on with the code behind it.
Result<Code> AnswerIf(const std::vector<ArgumentTest>& tests, sock_filter answer) {
  Code code;
  for (const ArgumentTest& test : tests) {
    if (Status appended = AppendTest(code, test, Jump(0)); !appended) {
      return std::move(appended).error();
    }
  }
  code.push_back(answer);
  // A test that fails jumps to the end, which is known only now.
  const std::uint16_t jump = Jump(0).code;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].code == jump) code[i] = Jump(code.size() - i - 1);
  }
  return code;
}

sock_filter Refuse(BoxFooting footing, int error) {
  return footing == BoxFooting::kContainer ? ReturnErrno(error) : Return(SECCOMP_RET_USER_NOTIF);
}

bool IsRefused(const AllowRule& rule, BoxFooting footing) {
  return (rule.needs_cgroup && footing > BoxFooting::kCgroup) ||
         (rule.needs_namespaces && footing == BoxFooting::kSharedHost);
}

std::vector<ArgumentTest> TestsOf(const AllowRule& rule, BoxFooting footing) {
  std::vector<ArgumentTest> tests = rule.when;
  if (footing == BoxFooting::kSharedHost) {
    tests.insert(tests.end(), rule.without_namespaces.begin(), rule.without_namespaces.end());
  }
  return tests;
}

Result<Code> AllowCode(const AllowRule& rule, BoxFooting footing) {
  Code code;
  if (IsRefused(rule, footing)) return Code{Refuse(footing, EPERM)};
  if (!rule.pretend.empty()) code = TRY(AnswerIf(rule.pretend, ReturnErrno(0)));
  for (const ArgumentTest& test : TestsOf(rule, footing)) {
    if (Status appended = AppendTest(code, test, Refuse(footing, rule.otherwise)); !appended) {
      return std::move(appended).error();
    }
  }
  code.push_back(Return(SECCOMP_RET_ALLOW));
  return code;
}

Result<Code> ObserveCode(const ObserveRule& rule, BoxFooting footing) {
  Code code;
  if (!rule.unseen.empty()) code = TRY(AnswerIf(rule.unseen, Return(SECCOMP_RET_ALLOW)));
  for (const ArgumentTest& test : rule.when) {
    TRY(AppendTest(code, test, ReturnErrno(rule.otherwise)));
  }
  code.push_back(
      Return(footing == BoxFooting::kContainer ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF));
  return code;
}

// ---- all calls ----------------------------------------------------------------------------------

Status AddCalls(const std::vector<std::string>& calls, const Code& code, Arch arch,
                std::map<std::uint32_t, Code>& table) {
  for (const std::string& call : calls) {
    auto number = SyscallNumber(call, arch);
    if (!number) return std::move(number).error();
    // Two names of one number would let the order of the file decide.
    if (number->has_value() && !table.emplace(**number, code).second) {
      return Error(Errc::kInvalidArgument,
                   "`" + call + "` has the number of another call of the policy: name it once");
    }
  }
  return {};
}

// Numbers from `first` up to the next span's are answered by `code`.
struct Span {
  std::uint32_t first = 0;
  Code code;
};

// Covers every number from 0 on; neighbours with the same answer become one span.
std::vector<Span> MakeSpans(const std::map<std::uint32_t, Code>& table, const Code& fallback) {
  std::vector<Span> spans = {{0, fallback}};
  const auto add = [&spans](std::uint32_t first, const Code& code) {
    if (spans.back().first == first) {
      spans.back().code = code;
    } else if (!SameCode(spans.back().code, code)) {
      spans.push_back({first, code});
    }
  };
  for (const auto& [number, code] : table) {
    add(number, code);
    if (!table.contains(number + 1)) add(number + 1, fallback);
  }
  return spans;
}

// Binary search for the span of the number in the accumulator. Precondition: spans is not empty.
Code SearchCode(std::span<const Span> spans) {
  if (spans.size() == 1) return spans.front().code;
  const std::size_t middle = spans.size() / 2;
  const Code lower = SearchCode(spans.first(middle));
  const Code upper = SearchCode(spans.subspan(middle));
  Code code;
  if (lower.size() <= kShortJumpMax) {
    code.push_back(JumpIf(BPF_JGE, spans[middle].first, lower.size(), 0));
  } else {
    code.push_back(JumpIf(BPF_JGE, spans[middle].first, 0, 1));
    code.push_back(Jump(lower.size()));
  }
  Append(code, lower);
  Append(code, upper);
  return code;
}

// Leaves the number in the accumulator, for calls of `arch` alone.
Code PrologueCode(Arch arch) {
  const sock_filter kill = Return(SECCOMP_RET_KILL_PROCESS);
  Code code = {
      Load(offsetof(seccomp_data, arch)),
      JumpIf(BPF_JEQ, AuditArch(arch), 1, 0),
      kill,
      Load(offsetof(seccomp_data, nr)),
  };
  if (arch == Arch::kX86_64) {
    // x32 calls carry the architecture of x86-64 and a bit in the number. syscall(-1) has that bit
    // too, but is no call of any ABI: it gets the default, as on other architectures.
    code.push_back(JumpIf(BPF_JGE, kX32SyscallBit, 0, 2));
    code.push_back(JumpIf(BPF_JEQ, kNoSyscall, 1, 0));
    code.push_back(kill);
  }
  return code;
}

// ---- a shorter program --------------------------------------------------------------------------

bool IsReturn(const sock_filter& line) { return BPF_CLASS(line.code) == BPF_RET; }

bool IsBranch(const sock_filter& line) {
  return BPF_CLASS(line.code) == BPF_JMP && BPF_OP(line.code) != BPF_JA;
}

// The distance from `line` to the farthest return within a short jump that answers as the one at
// `distance` does; `distance` itself where there is another instruction.
std::size_t FarthestLikeIt(const Code& code, std::size_t line, std::size_t distance) {
  const sock_filter& wanted = code[line + 1 + distance];
  if (!IsReturn(wanted)) return distance;
  std::size_t farthest = distance;
  for (std::size_t i = distance; i <= kShortJumpMax && line + 1 + i < code.size(); ++i) {
    const sock_filter& there = code[line + 1 + i];
    if (IsReturn(there) && there.k == wanted.k) farthest = i;
  }
  return farthest;
}

// Which lines can be come to.
std::vector<bool> Reached(const Code& code) {
  std::vector<bool> reached(code.size());
  reached[0] = true;
  for (std::size_t i = 0; i < code.size(); ++i) {  // jumps lead forward only
    if (!reached[i] || IsReturn(code[i])) continue;
    if (IsBranch(code[i])) {
      reached[i + 1 + code[i].jt] = reached[i + 1 + code[i].jf] = true;
    } else {
      const bool jumps = BPF_CLASS(code[i].code) == BPF_JMP;
      reached[i + 1 + (jumps ? code[i].k : 0)] = true;
    }
  }
  return reached;
}

// Branches that end in the same answer share one return where a jump can span it, and what nobody
// comes to any more goes. The kernel compiles a filter anew for every box.
Code ShareReturns(Code code) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!IsBranch(code[i])) continue;
    code[i].jt = static_cast<std::uint8_t>(FarthestLikeIt(code, i, code[i].jt));
    code[i].jf = static_cast<std::uint8_t>(FarthestLikeIt(code, i, code[i].jf));
  }
  const std::vector<bool> reached = Reached(code);
  std::vector<std::size_t> kept_before(code.size() + 1);
  for (std::size_t i = 0; i < code.size(); ++i) {
    kept_before[i + 1] = kept_before[i] + (reached[i] ? 1 : 0);
  }
  const auto shortened = [&](std::size_t line, std::size_t distance) {
    return kept_before[line + 1 + distance] - kept_before[line + 1];
  };
  Code shorter;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!reached[i]) continue;
    sock_filter line = code[i];
    if (IsBranch(line)) {
      line.jt = static_cast<std::uint8_t>(shortened(i, line.jt));
      line.jf = static_cast<std::uint8_t>(shortened(i, line.jf));
    } else if (BPF_CLASS(line.code) == BPF_JMP) {
      line.k = static_cast<std::uint32_t>(shortened(i, line.k));
    }
    shorter.push_back(line);
  }
  return shorter;
}

}  // namespace

std::uint32_t AuditArch(Arch arch) {
  return arch == Arch::kX86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

Result<std::optional<std::uint32_t>> SyscallNumber(const std::string& name, Arch arch) {
  const int number = seccomp_syscall_resolve_name_arch(ScmpArch(arch), name.c_str());
  if (number == __NR_SCMP_ERROR) {
    return Error(Errc::kInvalidArgument,
                 "`" + name +
                     "` is no system call that libseccomp knows: correct the name, or "
                     "leave a newer call to the default");
  }
  // libseccomp gives calls that an architecture lacks a negative number.
  if (number < 0) return std::optional<std::uint32_t>();
  return std::optional<std::uint32_t>(static_cast<std::uint32_t>(number));
}

Result<std::vector<sock_filter>> CompileFilter(const SyscallPolicy& policy, Arch arch,
                                               BoxFooting footing) {
  std::map<std::uint32_t, Code> table;
  for (const AllowRule& rule : policy.allow) {
    const Code code = TRY(AllowCode(rule, footing));
    if (Status added = AddCalls(rule.calls, code, arch, table); !added) {
      return std::move(added).error();
    }
  }
  for (const DenyRule& rule : policy.deny) {
    if (Status added = AddCalls(rule.calls, {Refuse(footing, rule.error)}, arch, table); !added) {
      return std::move(added).error();
    }
  }
  for (const ObserveRule& rule : policy.observe) {
    TRY(AddCalls(rule.calls, TRY(ObserveCode(rule, footing)), arch, table));
  }

  Code program = PrologueCode(arch);
  Append(program, SearchCode(MakeSpans(table, {ReturnErrno(policy.default_error)})));
  // A shorter program has more within a jump's reach.
  for (std::size_t before = 0; before != program.size();) {
    before = program.size();
    program = ShareReturns(std::move(program));
  }
  if (program.size() > kFilterLengthMax) {
    return Error(Errc::kLimit, "the filter has " + std::to_string(program.size()) +
                                   " instructions, the kernel takes " +
                                   std::to_string(kFilterLengthMax));
  }
  return program;
}

Result<std::vector<WatchedCallRule>> WatchedCalls(const SyscallPolicy& policy, Arch arch,
                                                  BoxFooting footing) {
  std::vector<WatchedCallRule> watched;
  const auto add = [&](const std::vector<std::string>& calls, int error,
                       const std::string& why) -> Status {
    for (const std::string& call : calls) {
      const auto number = TRY(SyscallNumber(call, arch));
      if (number) watched.push_back({*number, error, call, why});
    }
    return {};
  };
  for (const AllowRule& rule : policy.allow) {
    if (IsRefused(rule, footing)) {
      TRY(add(rule.calls, EPERM, rule.why));
    } else if (!TestsOf(rule, footing).empty()) {
      TRY(add(rule.calls, rule.when.empty() ? EPERM : rule.otherwise, rule.why));
    }
  }
  for (const DenyRule& rule : policy.deny) {
    TRY(add(rule.calls, rule.error, rule.why));
  }
  for (const ObserveRule& rule : policy.observe) TRY(add(rule.calls, 0, rule.why));
  std::sort(watched.begin(), watched.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return watched;
}

}  // namespace glovebox

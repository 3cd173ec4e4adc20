#include "sandbox/compile/filter_compiler.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/compile/bpf_evaluator.h"

namespace glovebox {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kEnosys = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kPretended = SECCOMP_RET_ERRNO | 0;

// Allows `read` if the tests hold; the smallest policy around a `when` and a `pretend`.
SyscallPolicy ReadWhen(std::vector<ArgumentTest> when, std::vector<ArgumentTest> pretend = {}) {
  SyscallPolicy policy;
  policy.default_error = ENOSYS;
  policy.allow.push_back({{"read"}, std::move(pretend), std::move(when), EPERM, false, "test"});
  return policy;
}

// What x86-64's call `nr` gets with the argument `value` in register `arg`, and `second` in the
// register behind it.
std::uint32_t Answer(const SyscallPolicy& policy, int nr, int arg, std::uint64_t value,
                     std::uint64_t second = 0) {
  const auto program = CompileFilter(policy, Arch::kX86_64);
  EXPECT_TRUE(program.ok()) << program.error().message();
  if (!program.ok()) return 0;
  seccomp_data data = {};
  data.nr = nr;
  data.arch = AUDIT_ARCH_X86_64;
  data.args[arg] = value;
  if (arg < 5) data.args[arg + 1] = second;
  const auto action = EvaluateBpf(*program, data);
  EXPECT_TRUE(action.ok()) << action.error().message();
  if (!action.ok() || *action != SECCOMP_RET_USER_NOTIF) return action.ok() ? *action : 0;
  // The supervisor's answer.
  const auto watched = WatchedCalls(policy, Arch::kX86_64);
  EXPECT_TRUE(watched.ok());
  for (const WatchedCallRule& call : *watched) {
    if (call.number == static_cast<std::uint32_t>(nr)) {
      return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(call.error);
    }
  }
  ADD_FAILURE() << "handed to a supervisor that does not know call " << nr;
  return 0;
}

TEST(FilterCompilerTest, NumbersDifferByArchitecture) {
  const auto on_x86_64 = SyscallNumber("read", Arch::kX86_64);
  const auto on_aarch64 = SyscallNumber("read", Arch::kAarch64);
  ASSERT_TRUE(on_x86_64.ok() && on_aarch64.ok());
  EXPECT_EQ(on_x86_64->value_or(999), 0u);
  EXPECT_EQ(on_aarch64->value_or(999), 63u);
}

TEST(FilterCompilerTest, ACallThatAnArchitectureLacksHasNoNumberAndIsSkipped) {
  const auto number = SyscallNumber("open", Arch::kAarch64);
  ASSERT_TRUE(number.ok());
  EXPECT_FALSE(number->has_value());

  SyscallPolicy policy = ReadWhen({});
  policy.deny.push_back({{"open"}, EPERM, "test"});
  EXPECT_TRUE(CompileFilter(policy, Arch::kAarch64).ok());
}

TEST(FilterCompilerTest, RefusesANameThatNobodyKnows) {
  SyscallPolicy policy = ReadWhen({});
  policy.deny.push_back({{"ptraec"}, EPERM, "test"});
  const auto program = CompileFilter(policy, Arch::kX86_64);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code(), Errc::kInvalidArgument);
  EXPECT_THAT(program.error().message(), HasSubstr("`ptraec`"));
}

TEST(FilterCompilerTest, RefusesOneCallTwice) {
  SyscallPolicy policy = ReadWhen({});
  policy.deny.push_back({{"read"}, EPERM, "test"});
  const auto program = CompileFilter(policy, Arch::kX86_64);
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().message(), HasSubstr("`read`"));
}

TEST(FilterCompilerTest, ATestSeesTheLow32Bits) {
  const SyscallPolicy policy = ReadWhen({{1, 0xFFFFFFFF, {0x5401, 0x541B}}});
  EXPECT_EQ(Answer(policy, 0, 1, 0x5401), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 1, 0xDEAD00005401), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 1, 0x541B), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 1, 0x5412), kEperm);
  EXPECT_EQ(Answer(policy, 0, 1, 0x100005412), kEperm);
}

TEST(FilterCompilerTest, A64BitTestSeesTheWholeRegister) {
  const SyscallPolicy policy = ReadWhen({{4, ~0ull, {0x100000002}}});
  EXPECT_EQ(Answer(policy, 0, 4, 0x100000002), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 4, 0x2), kEperm);
  EXPECT_EQ(Answer(policy, 0, 4, 0x100000000), kEperm);
  EXPECT_EQ(Answer(policy, 0, 4, 0x300000002), kEperm);
}

TEST(FilterCompilerTest, EveryTestMustHold) {
  const SyscallPolicy policy = ReadWhen({{0, 0xF0, {0x10}}, {0, 0x0F, {0x1, 0x2}}});
  EXPECT_EQ(Answer(policy, 0, 0, 0xF11), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 0, 0x12), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 0, 0x13), kEperm);
  EXPECT_EQ(Answer(policy, 0, 0, 0x21), kEperm);
}

TEST(FilterCompilerTest, PretendsBeforeItAllowsOrRefuses) {
  const SyscallPolicy policy = ReadWhen({{1, 0xFFFFFFFF, {5, 36}}}, {{1, 0xFFFFFFFF, {6, 7, 37}}});
  for (const std::uint64_t high : {0ull, 1ull << 32, 0xDEADBEEFull << 32}) {
    for (const std::uint64_t value : {6ull, 7ull, 37ull}) {
      EXPECT_EQ(Answer(policy, 0, 1, high | value), kPretended);
    }
    EXPECT_EQ(Answer(policy, 0, 1, high | 5), SECCOMP_RET_ALLOW);
    EXPECT_EQ(Answer(policy, 0, 1, high | 36), SECCOMP_RET_ALLOW);
    EXPECT_EQ(Answer(policy, 0, 1, high | 8), kEperm);
  }
  EXPECT_EQ(Answer(policy, 1, 1, 6), kEnosys) << "another call";
}

TEST(FilterCompilerTest, PretendsOnlyIfEveryTestHolds) {
  const SyscallPolicy policy =
      ReadWhen({{1, 0xF, {1, 2}}}, {{1, 0xF, {3, 4}}, {2, ~0ull, {0x100000002}}});
  EXPECT_EQ(Answer(policy, 0, 1, 0xF3, 0x100000002), kPretended);
  EXPECT_EQ(Answer(policy, 0, 1, 4, 0x100000002), kPretended);
  for (const std::uint64_t wrong : {0x2ull, 0x100000000ull, 0x300000002ull, 0ull}) {
    EXPECT_EQ(Answer(policy, 0, 1, 3, wrong), kEperm) << wrong;
  }
  EXPECT_EQ(Answer(policy, 0, 1, 5, 0x100000002), kEperm);
  EXPECT_EQ(Answer(policy, 0, 1, 2, 0x100000002), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 1, 1, 0), SECCOMP_RET_ALLOW);
}

TEST(FilterCompilerTest, FindsCallsOnBothSidesOfALongJump) {
  ArgumentTest wide = {1, 0xFFFFFFFF, {}};
  for (std::uint64_t value = 1; value <= 255; ++value) wide.values.push_back(value);
  SyscallPolicy policy = ReadWhen({wide, wide});
  policy.deny.push_back({{"write"}, EACCES, "test"});
  EXPECT_EQ(Answer(policy, 0, 1, 1), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 1, 255), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, 0, 1, 256), kEperm);
  EXPECT_EQ(Answer(policy, 1, 1, 1), SECCOMP_RET_ERRNO | EACCES);
  EXPECT_EQ(Answer(policy, 2, 1, 1), kEnosys);
}

TEST(FilterCompilerTest, RefusesMoreThanTheKernelTakes) {
  ArgumentTest wide = {1, 0xFFFFFFFF, {}};
  for (std::uint64_t value = 1; value <= 255; ++value) wide.values.push_back(value);
  const auto too_long = CompileFilter(ReadWhen(std::vector<ArgumentTest>(16, wide)), Arch::kX86_64);
  ASSERT_FALSE(too_long.ok());
  EXPECT_EQ(too_long.error().code(), Errc::kLimit);

  wide.values.push_back(256);
  const auto too_wide = CompileFilter(ReadWhen({wide}), Arch::kX86_64);
  ASSERT_FALSE(too_wide.ok());
  EXPECT_EQ(too_wide.error().code(), Errc::kLimit);
}

}  // namespace
}  // namespace glovebox

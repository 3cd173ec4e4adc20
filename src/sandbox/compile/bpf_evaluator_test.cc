#include "sandbox/compile/bpf_evaluator.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

using ::testing::HasSubstr;

constexpr sock_filter kLoadNr = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
constexpr sock_filter kReturnOne = BPF_STMT(BPF_RET | BPF_K, 1);
constexpr sock_filter kReturnTwo = BPF_STMT(BPF_RET | BPF_K, 2);

seccomp_data Call(int nr) {
  seccomp_data data = {};
  data.nr = nr;
  return data;
}

std::uint32_t Evaluate(const std::vector<sock_filter>& program, const seccomp_data& data) {
  const auto action = EvaluateBpf(program, data);
  EXPECT_TRUE(action.ok()) << action.error().message();
  return action.ok() ? *action : 0;
}

std::string ErrorOf(const std::vector<sock_filter>& program) {
  const auto action = EvaluateBpf(program, Call(7));
  return action.ok() ? "(accepted)" : action.error().message();
}

// Whether `comparison` with `constant` holds for the call number 7.
bool Holds(int comparison, std::uint32_t constant) {
  const auto code = static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K);
  return Evaluate({kLoadNr, BPF_JUMP(code, constant, 1, 0), kReturnTwo, kReturnOne}, Call(7)) == 1;
}

TEST(BpfEvaluatorTest, ReturnsTheConstant) {
  EXPECT_EQ(Evaluate({kReturnOne}, Call(0)), 1u);
  EXPECT_EQ(Evaluate({BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}, Call(0)), SECCOMP_RET_ALLOW);
}

TEST(BpfEvaluatorTest, ComparesAsTheKernelDoes) {
  EXPECT_TRUE(Holds(BPF_JEQ, 7));
  EXPECT_FALSE(Holds(BPF_JEQ, 6));
  EXPECT_TRUE(Holds(BPF_JGE, 7));
  EXPECT_FALSE(Holds(BPF_JGE, 8));
  EXPECT_TRUE(Holds(BPF_JGT, 6));
  EXPECT_FALSE(Holds(BPF_JGT, 7));
  EXPECT_TRUE(Holds(BPF_JSET, 12));
  EXPECT_FALSE(Holds(BPF_JSET, 8));
}

TEST(BpfEvaluatorTest, ComparesWithoutSign) {
  const std::vector<sock_filter> program = {kLoadNr, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 8, 1, 0),
                                            kReturnTwo, kReturnOne};
  EXPECT_EQ(Evaluate(program, Call(-1)), 1u);
}

TEST(BpfEvaluatorTest, LoadsEveryWordOfACall) {
  seccomp_data data = Call(0);
  data.args[5] = 0x1122334455667788;
  const auto returns_one_if_word_is = [&data](std::uint32_t offset, std::uint32_t word) {
    return Evaluate({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 1, 0), kReturnTwo, kReturnOne},
                    data) == 1;
  };
  EXPECT_TRUE(returns_one_if_word_is(sizeof(data) - 8, 0x55667788));
  EXPECT_TRUE(returns_one_if_word_is(sizeof(data) - 4, 0x11223344));
}

TEST(BpfEvaluatorTest, MasksAndJumpsFar) {
  std::vector<sock_filter> program = {kLoadNr, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF),
                                      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
                                      BPF_STMT(BPF_JMP | BPF_JA, 1000)};
  program.resize(program.size() + 1000, kReturnTwo);
  program.push_back(kReturnOne);
  EXPECT_EQ(Evaluate(program, Call(0xF7)), 1u);
  EXPECT_EQ(Evaluate(program, Call(0xF8)), 2u);
}

TEST(BpfEvaluatorTest, RefusesWhatTheKernelWouldNotRun) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf({kLoadNr}), HasSubstr("instruction 0: leaves the program"));
  EXPECT_THAT(ErrorOf({BPF_STMT(BPF_JMP | BPF_JA, 1), kReturnOne}), HasSubstr("leaves"));
  EXPECT_THAT(ErrorOf({BPF_STMT(BPF_JMP | BPF_JA, 0xFFFFFFFF), kReturnOne}), HasSubstr("leaves"));
  EXPECT_THAT(ErrorOf({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), kReturnOne}), HasSubstr("unaligned"));
  EXPECT_THAT(ErrorOf({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data)), kReturnOne}),
              HasSubstr("outside of seccomp_data"));
}

TEST(BpfEvaluatorTest, RefusesInstructionsThatItDoesNotKnow) {
  EXPECT_THAT(ErrorOf({kReturnOne, BPF_STMT(BPF_MISC | BPF_TAX, 0)}), HasSubstr("accepted"))
      << "only what runs is judged";
  EXPECT_THAT(ErrorOf({kLoadNr, BPF_STMT(BPF_MISC | BPF_TAX, 0), kReturnOne}),
              HasSubstr("instruction 1: a code that no filter"));
  EXPECT_THAT(ErrorOf({BPF_STMT(BPF_RET | BPF_A, 0)}), HasSubstr("a code that no filter"));
  EXPECT_THAT(ErrorOf({BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), kReturnOne}), HasSubstr("a code"));
}

}  // namespace
}  // namespace glovebox

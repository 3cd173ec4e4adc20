#include "policy/syscall_policy.h"

#include <cerrno>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDefault[] = "[default]\nerrno = \"ENOSYS\"\nwhy = \"fallbacks\"\n";

// A policy that is right but for the entries under test.
std::string WithEntries(const std::string& entries) {
  return std::string(kDefault) + "[[allow]]\ncalls = [\"read\"]\nwhy = \"input\"\n" + entries;
}

std::string ErrorOf(const std::string& text) {
  const auto policy = ParseSyscallPolicy(text);
  if (policy.ok()) return "(accepted)";
  EXPECT_EQ(policy.error().code(), Errc::kInvalidArgument);
  return policy.error().message();
}

std::string ErrorOfTest(const std::string& test) {
  return ErrorOf(
      WithEntries("[[allow]]\ncalls = [\"ioctl\"]\notherwise = \"EPERM\"\nwhy = \"w\"\n"
                  "when = [" +
                  test + "]\n"));
}

TEST(SyscallPolicyTest, ReadsEveryKindOfEntry) {
  const auto policy = ParseSyscallPolicy(WithEntries(R"(
[[allow]]
calls = ["socketpair"]
when = [{ arg = 0, equals = 1 }, { arg = 1, mask = 0xF, one_of = [1, 2] }]
otherwise = "EACCES"
why = "asyncio"
[[allow]]
calls = ["sendto"]
when = [{ arg = 4, bits = 64, equals = 0 }]
otherwise = "EPERM"
why = "send"
[[deny]]
calls = ["ptrace", "bpf"]
why = "danger"
[[deny]]
calls = ["clone3"]
errno = "ENOSYS"
why = "pointer"
)"));
  ASSERT_TRUE(policy.ok()) << policy.error().message();
  EXPECT_EQ(policy->default_error, ENOSYS);
  ASSERT_EQ(policy->allow.size(), 3u);
  EXPECT_THAT(policy->allow[0].calls, ElementsAre("read"));
  EXPECT_TRUE(policy->allow[0].when.empty());
  EXPECT_EQ(policy->allow[0].why, "input");

  const AllowRule& pair = policy->allow[1];
  EXPECT_EQ(pair.otherwise, EACCES);
  ASSERT_EQ(pair.when.size(), 2u);
  EXPECT_EQ(pair.when[0].mask, 0xFFFFFFFFu) << "an argument is 32 bits unless the file says more";
  EXPECT_EQ(pair.when[1].arg, 1);
  EXPECT_EQ(pair.when[1].mask, 0xFu);
  EXPECT_THAT(pair.when[1].values, ElementsAre(1, 2));
  EXPECT_EQ(policy->allow[2].when[0].mask, ~0ull);

  ASSERT_EQ(policy->deny.size(), 2u);
  EXPECT_EQ(policy->deny[0].error, EPERM);
  EXPECT_EQ(policy->deny[1].error, ENOSYS);
}

TEST(SyscallPolicyTest, NamesTheLineThatIsNotToml) {
  EXPECT_THAT(ErrorOf("[default]\nerrno = = 1\n"), HasSubstr("line 2: not TOML"));
}

TEST(SyscallPolicyTest, RefusesUnknownKeysEverywhere) {
  EXPECT_THAT(ErrorOf(WithEntries("[[alow]]\n")), HasSubstr("unknown key `alow`"));
  EXPECT_THAT(ErrorOf(WithEntries("[[deny]]\ncalls = [\"bpf\"]\nwhen = []\nwhy = \"w\"\n")),
              HasSubstr("[[deny]] entry at line 7 (bpf): unknown key `when`"));
  EXPECT_THAT(ErrorOfTest("{ arg = 0, equal = 1 }"), HasSubstr("unknown key `equal`"));
  EXPECT_THAT(ErrorOf(std::string(kDefault) + "action = 1\n"),
              HasSubstr("[default]: unknown key `action`"));
}

TEST(SyscallPolicyTest, RefusesACallInTwoEntries) {
  EXPECT_THAT(ErrorOf(WithEntries("[[deny]]\ncalls = [\"bpf\", \"read\"]\nwhy = \"w\"\n")),
              HasSubstr("[[deny]] entry at line 7 (bpf, ...): `read` is already in the [[allow]] "
                        "entry at line 4 (read)"));
  EXPECT_THAT(ErrorOf(WithEntries("[[deny]]\ncalls = [\"bpf\", \"bpf\"]\nwhy = \"w\"\n")),
              HasSubstr("`bpf` is already in"));
}

TEST(SyscallPolicyTest, RefusesAnEntryWithoutAReason) {
  EXPECT_THAT(ErrorOf(WithEntries("[[allow]]\ncalls = [\"write\"]\n")),
              HasSubstr("(write): `why` is missing: say who needs these calls"));
  EXPECT_THAT(ErrorOf(WithEntries("[[deny]]\ncalls = [\"bpf\"]\nwhy = \"\"\n")),
              HasSubstr("`why` is missing: say what the danger is"));
  EXPECT_THAT(ErrorOf("[default]\nerrno = \"EPERM\"\n"), HasSubstr("[default]: `why` is missing"));
}

TEST(SyscallPolicyTest, RefusesAnUnknownErrno) {
  EXPECT_THAT(ErrorOf(WithEntries("[[deny]]\ncalls = [\"bpf\"]\nerrno = \"EPREM\"\nwhy = \"w\"\n")),
              HasSubstr("unknown errno `EPREM`: use EPERM"));
}

TEST(SyscallPolicyTest, RefusesACallListThatNamesNothing) {
  EXPECT_THAT(ErrorOf(WithEntries("[[allow]]\nwhy = \"w\"\n")), HasSubstr("`calls` is missing"));
  EXPECT_THAT(ErrorOf(WithEntries("[[allow]]\ncalls = []\nwhy = \"w\"\n")),
              HasSubstr("`calls` is missing"));
  EXPECT_THAT(ErrorOf(WithEntries("[[allow]]\ncalls = [3]\nwhy = \"w\"\n")),
              HasSubstr("`calls` must hold names"));
}

TEST(SyscallPolicyTest, RefusesConditionsAndRefusalsThatDoNotBelongTogether) {
  EXPECT_THAT(ErrorOf(WithEntries("[[allow]]\ncalls = [\"write\"]\notherwise = \"EPERM\"\n"
                                  "why = \"w\"\n")),
              HasSubstr("`otherwise` without `when`"));
  EXPECT_THAT(ErrorOf(WithEntries("[[allow]]\ncalls = [\"write\"]\nwhy = \"w\"\n"
                                  "when = [{ arg = 0, equals = 1 }]\n")),
              HasSubstr("`otherwise` is missing"));
  EXPECT_THAT(ErrorOfTest(""), HasSubstr("`when` must be a list of tests"));
}

// An entry with `keys`; what is wrong with it.
std::string ErrorOfEntry(const std::string& keys) {
  return ErrorOf(WithEntries("[[allow]]\ncalls = [\"fcntl\"]\nwhy = \"w\"\n" + keys));
}

TEST(SyscallPolicyTest, ReadsWhatIsPretended) {
  const auto policy = ParseSyscallPolicy(WithEntries(R"(
[[allow]]
calls = ["fcntl"]
pretend = [{ arg = 1, one_of = [6, 7] }, { arg = 2, bits = 64, equals = 0 }]
when = [{ arg = 1, one_of = [5, 36] }]
otherwise = "EPERM"
why = "locks"
)"));
  ASSERT_TRUE(policy.ok()) << policy.error().message();
  EXPECT_TRUE(policy->allow[0].pretend.empty());
  const AllowRule& rule = policy->allow[1];
  ASSERT_EQ(rule.pretend.size(), 2u);
  EXPECT_EQ(rule.pretend[0].arg, 1);
  EXPECT_EQ(rule.pretend[0].mask, 0xFFFFFFFFu);
  EXPECT_THAT(rule.pretend[0].values, ElementsAre(6, 7));
  EXPECT_EQ(rule.pretend[1].mask, ~0ull);
  ASSERT_EQ(rule.when.size(), 1u);
  EXPECT_THAT(rule.when[0].values, ElementsAre(5, 36));
  EXPECT_EQ(rule.otherwise, EPERM);
}

TEST(SyscallPolicyTest, RefusesToPretendWithoutSayingWhatIsMade) {
  EXPECT_THAT(ErrorOfEntry("pretend = [{ arg = 1, equals = 6 }]\n"),
              HasSubstr("(fcntl): `pretend` without `when`"));
  EXPECT_THAT(ErrorOfEntry("pretend = []\notherwise = \"EPERM\"\n"
                           "when = [{ arg = 1, equals = 5 }]\n"),
              HasSubstr("(fcntl): `pretend` must be a list of tests"));
  EXPECT_THAT(ErrorOfEntry("pretend = 6\n"), HasSubstr("`pretend` must be a list of tests"));
  EXPECT_THAT(ErrorOfEntry("pretend = [{ arg = 6, equals = 6 }]\n"),
              HasSubstr("`pretend`: `arg` must be 0 to 5"));
  EXPECT_THAT(ErrorOf(WithEntries("[[deny]]\ncalls = [\"bpf\"]\npretend = []\nwhy = \"w\"\n")),
              HasSubstr("unknown key `pretend`"));
}

TEST(SyscallPolicyTest, RefusesCallsThatAreBothMadeAndPretended) {
  const auto error_of = [](const std::string& pretend, const std::string& when) {
    return ErrorOfEntry("otherwise = \"EPERM\"\npretend = [" + pretend + "]\nwhen = [" + when +
                        "]\n");
  };
  EXPECT_THAT(error_of("{ arg = 1, one_of = [7, 6] }", "{ arg = 1, one_of = [5, 6] }"),
              HasSubstr("(fcntl): a call can match `when` and `pretend`: value 6 of `arg` 1 is in "
                        "both"));
  EXPECT_THAT(error_of("{ arg = 1, equals = 6 }", "{ arg = 1, mask = 0xF0, equals = 0 }"),
              HasSubstr("value 6 of `arg` 1 is in both"));
  EXPECT_THAT(error_of("{ arg = 1, equals = 6 }", "{ arg = 1, bits = 64, equals = 0x100000006 }"),
              HasSubstr("value 6 of `arg` 1 is in both"));
  EXPECT_THAT(error_of("{ arg = 1, equals = 6 }", "{ arg = 0, equals = 6 }"),
              HasSubstr("they test different arguments"));
  // One argument that tells them apart is enough.
  EXPECT_EQ(error_of("{ arg = 0, equals = 1 }, { arg = 1, equals = 6 }",
                     "{ arg = 0, equals = 1 }, { arg = 1, equals = 5 }"),
            "(accepted)");
}

TEST(SyscallPolicyTest, RefusesTestsThatCannotMeanWhatTheySay) {
  EXPECT_THAT(ErrorOfTest("{ equals = 1 }"), HasSubstr("`arg` must be 0 to 5"));
  EXPECT_THAT(ErrorOfTest("{ arg = 6, equals = 1 }"), HasSubstr("`arg` must be 0 to 5"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1 }"), HasSubstr("either `equals` or `one_of`"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, equals = 1, one_of = [1] }"), HasSubstr("either"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, one_of = [] }"), HasSubstr("`one_of` must be a list"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, equals = -1 }"), HasSubstr("integers >= 0"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, equals = \"1\" }"), HasSubstr("integers >= 0"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, mask = 0, equals = 0 }"), HasSubstr("tests nothing"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, mask = 2, equals = 1 }"), HasSubstr("can never match"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, equals = 0x100005401 }"), HasSubstr("can never match"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, mask = 0x1FFFFFFFF, equals = 1 }"),
              HasSubstr("more than 32 bits"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, bits = 16, equals = 1 }"), HasSubstr("32 or 64"));
  EXPECT_THAT(ErrorOfTest("{ arg = 1, bits = 64, one_of = [1, 2] }"), HasSubstr("one value"));
  EXPECT_THAT(ErrorOfTest("3"), HasSubstr("a test must be a table"));
}

TEST(SyscallPolicyTest, RefusesAFileWithoutTheEssentials) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("[default] is missing"));
  EXPECT_THAT(ErrorOf(kDefault), HasSubstr("no [[allow]] entry"));
  EXPECT_THAT(ErrorOf(std::string("allow = 3\n") + kDefault), HasSubstr("written as [[allow]]"));
}

}  // namespace
}  // namespace glovebox

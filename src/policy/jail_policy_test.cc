#include "policy/jail_policy.h"

#include <string>

#include <gtest/gtest.h>

namespace glovebox::policy {
namespace {

std::string Problem(std::string_view text) {
  const Result<JailPolicy> policy = ParseJailPolicy(text);
  return policy ? "" : policy.error().message();
}

TEST(JailPolicy, ReadsEveryWord) {
  const auto policy = ParseJailPolicy(R"(
summary = "s"
profile = "node"
read = ["/a", "~/b"]
write = ["/c"]
allow-sensitive = ["~/.ssh"]
net = ["example.org"]
env = ["A", "B=c=d"]
arguments = "write"
memory = "64m"
pids = 7
cpu = 0.5
files = 99
timeout = "90s"
idle = "500ms"
reasons = false
)");
  ASSERT_TRUE(policy) << policy.error().message();
  JailPolicy expected;
  expected.summary = "s";
  expected.profile = "node";
  expected.read = {"/a", "~/b"};
  expected.write = {"/c"};
  expected.allow_sensitive = {"~/.ssh"};
  expected.net = {"example.org"};
  expected.env = {"A", "B=c=d"};
  expected.arguments = ArgumentGrant::kWrite;
  expected.memory_bytes = 64u << 20;
  expected.pids = 7;
  expected.cpus = 0.5;
  expected.files = 99;
  expected.timeout_seconds = 90;
  expected.idle_seconds = 0.5;
  expected.reasons = false;
  EXPECT_EQ(*policy, expected);
}

TEST(JailPolicy, WhatIsWrongIsNamed) {
  EXPECT_NE(Problem("reed = []").find("`reed`"), std::string::npos);
  EXPECT_NE(Problem("read = [\"x\"]").find("absolute"), std::string::npos);
  EXPECT_NE(Problem("read = \"/x\"").find("list"), std::string::npos);
  EXPECT_NE(Problem("profile = \"lisp\"").find("lisp"), std::string::npos);
  EXPECT_NE(Problem("arguments = \"all\"").find("none, read, write"), std::string::npos);
  EXPECT_NE(Problem("memory = \"1k\"").find("at least"), std::string::npos);
  EXPECT_NE(Problem("memory = 5").find("text"), std::string::npos);
  EXPECT_NE(Problem("pids = 0").find("pids"), std::string::npos);
  EXPECT_NE(Problem("cpu = 0").find("cpu"), std::string::npos);
  EXPECT_NE(Problem("files = 1").find("files"), std::string::npos);
  EXPECT_NE(Problem("timeout = \"0s\"").find("timeout"), std::string::npos);
  EXPECT_NE(Problem("timeout = \"nans\"").find("timeout"), std::string::npos);
  EXPECT_NE(Problem("env = [\"1A=x\"]").find("1A"), std::string::npos);
  EXPECT_NE(Problem("reasons = 1").find("true or false"), std::string::npos);
}

TEST(JailPolicy, FlagsAddToAFile) {
  JailPolicy file;
  file.read = {"/a"};
  file.pids = 5;
  file.files = 20;
  JailPolicy flags;
  flags.read = {"/b"};
  flags.pids = 9;
  const JailPolicy both = Merge(file, flags);
  EXPECT_EQ(both.read, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(both.pids, 9u);
  EXPECT_EQ(both.files, 20u);
}

TEST(JailPolicy, DurationsBothWays) {
  for (const auto& [text, seconds] :
       {std::pair<const char*, double>{"500ms", 0.5}, {"30s", 30}, {"10m", 600}, {"2h", 7200}}) {
    ASSERT_TRUE(ParseDuration(text)) << text;
    EXPECT_EQ(*ParseDuration(text), seconds);
    EXPECT_EQ(DurationText(seconds), text);
  }
  for (const char* text : {"", "5", "-1s", "1e9h", "infs", "1d", "s"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
}

}  // namespace
}  // namespace glovebox::policy

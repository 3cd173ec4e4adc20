#include "sandbox/parent/spawn.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

using testing::HasSubstr;

struct Output {
  std::string text;
  int exit_code = -1;
};

// Runs a shell command through Spawn and collects what it prints.
Output RunShell(SpawnRequest request, const std::string& command) {
  std::array<int, 2> fds;
  EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
  UniqueFd read_end(fds[0]);
  UniqueFd write_end(fds[1]);
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", command};
  request.descriptors = {{write_end.get(), 1}, {write_end.get(), 2}};
  Result<Process> process = Spawn(request);
  EXPECT_TRUE(process.ok()) << process.error().message();
  write_end.reset();
  Output output;
  if (!process) return output;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = ::read(read_end.get(), buffer.data(), buffer.size())) > 0) {
    output.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  siginfo_t info = {};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process->pid()), &info, WEXITED | WNOWAIT), 0);
  output.exit_code = info.si_status;
  return output;
}

TEST(SpawnTest, RunsAProgramWithItsArgumentsEnvironmentAndExitCode) {
  SpawnRequest request;
  request.environment = {"WORD=hello"};
  const Output output = RunShell(request, "echo $WORD; exit 3");
  EXPECT_EQ(output.text, "hello\n");
  EXPECT_EQ(output.exit_code, 3);
}

TEST(SpawnTest, PassesNoOtherDescriptor) {
  // Not close-on-exec is the point. NOLINTNEXTLINE(android-cloexec-open)
  const UniqueFd extra(::open("/dev/null", O_RDONLY));
  ASSERT_GE(::fcntl(extra.get(), F_DUPFD, 200), 200);
  const Output output =
      RunShell({}, "for f in /proc/self/fd/*; do [ -e $f ] && echo -n \"${f##*/} \"; done");
  // 0 is closed, the loop's own directory stream may show up as 3.
  EXPECT_THAT(output.text, testing::Not(HasSubstr("200")));
  ::close(200);
}

TEST(SpawnTest, StartsWithNoSignalBlockedAndInASessionOfItsOwn) {
  const Output output =
      RunShell({}, "grep SigBlk /proc/self/status; [ $(ps -o sid= -p $$) = $$ ] && echo own");
  EXPECT_THAT(output.text, HasSubstr("0000000000000000"));
  EXPECT_THAT(output.text, HasSubstr("own"));
}

TEST(SpawnTest, NamesTheStageThatFailed) {
  SpawnRequest request;
  request.executable = "/no/such/program";
  request.arguments = {"x"};
  const Result<Process> process = Spawn(request);
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message(), HasSubstr("executing the program: No such file"));
}

TEST(SpawnTest, TheChildDiesWithItsObject) {
  SpawnRequest request;
  request.executable = "/bin/sleep";
  request.arguments = {"sleep", "60"};
  pid_t pid = 0;
  {
    Result<Process> process = Spawn(request);
    ASSERT_TRUE(process.ok()) << process.error().message();
    pid = process->pid();
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(SpawnTest, EveryStageHasAName) {
  for (int stage = 0; stage <= static_cast<int>(ChildStage::kExec); ++stage) {
    EXPECT_NE(StageName(static_cast<ChildStage>(stage)), "an unknown stage") << stage;
  }
}

}  // namespace
}  // namespace glovebox::sandbox

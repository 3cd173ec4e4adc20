#include "sandbox/child/vfork_clone.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

namespace glovebox::sandbox {
namespace {

struct Shared {
  pid_t child = 0;
  pid_t parent = 0;
  int ends_with = 0;
};

void Note(const void* argument) {
  auto* shared = static_cast<Shared*>(const_cast<void*>(argument));
  shared->child = ::getpid();
  shared->parent = ::getppid();
  ::_exit(shared->ends_with);
}

clone_args Plain() {
  clone_args args = {};
  args.exit_signal = SIGCHLD;
  return args;
}

TEST(VforkCloneTest, TheParentFindsWhatTheChildLeft) {
  for (int i = 0; i < 100; ++i) {
    Shared shared;
    shared.ends_with = i;
    const long pid = VforkClone(Plain(), &Note, &shared);
    ASSERT_GT(pid, 0);
    EXPECT_EQ(shared.child, pid) << "it has ended before the parent goes on";
    EXPECT_EQ(shared.parent, ::getpid());
    int status = 0;
    ASSERT_EQ(::waitpid(static_cast<pid_t>(pid), &status, 0), pid);
    EXPECT_EQ(WEXITSTATUS(status), i);
  }
}

TEST(VforkCloneTest, AnExecutedProgramLetsTheParentGoOn) {
  const auto execute = [](const void*) {
    char sleep[] = "/bin/sleep";
    char time[] = "60";
    char* const argv[] = {sleep, time, nullptr};
    ::execv(sleep, argv);
    ::_exit(126);
  };
  const long pid = VforkClone(Plain(), execute, nullptr);
  ASSERT_GT(pid, 0);
  EXPECT_EQ(::waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG), 0) << "it is alive";
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  EXPECT_EQ(::waitpid(static_cast<pid_t>(pid), nullptr, 0), pid);
}

TEST(VforkCloneTest, SaysWhyThereIsNoChild) {
  clone_args args = Plain();
  args.flags = CLONE_THREAD;  // not without CLONE_SIGHAND
  Shared shared;
  EXPECT_EQ(VforkClone(args, &Note, &shared), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(shared.child, 0);
}

}  // namespace
}  // namespace glovebox::sandbox

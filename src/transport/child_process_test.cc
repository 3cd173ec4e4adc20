#include "transport/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace glovebox {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class ChildProcessTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> argv, std::size_t stderr_tail_bytes = 4096) {
    auto started =
        ChildProcess::Start(context_, {std::move(argv), {"A=1"}, "/", stderr_tail_bytes});
    ASSERT_TRUE(started.ok()) << started.error().message();
    process_ = std::move(started).value();
    process_->OnExit([this](const ChildExit& end) { end_ = ToText(end); });
  }
  void StartScript(const std::string& script) { Start({"/bin/sh", "-c", script}); }

  // All it writes to stdout, to the end.
  std::string ReadOutput() {
    const UniqueFd out = process_->TakeOutput();
    std::string text;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(out.get(), buffer, sizeof buffer)) > 0) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
  std::string ReadLine() {
    if (!out_) out_ = process_->TakeOutput();
    std::string line;
    char byte = 0;
    while (::read(out_.get(), &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
  }
  // Until the program has ended.
  void Run() {
    context_.restart();
    context_.run_for(std::chrono::seconds(20));
  }
  // A zombie is its new parent's business.
  static bool Runs(int pid) {
    const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    return stat && stat->find(") Z ") == std::string::npos;
  }
  static bool IsGoneSoon(int pid) {
    for (int tries = 0; tries < 200 && Runs(pid); ++tries) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    return !Runs(pid);
  }

  boost::asio::io_context context_;
  std::unique_ptr<ChildProcess> process_;
  UniqueFd out_;
  std::string end_;
};

TEST_F(ChildProcessTest, TalksThroughItsStandardStreams) {
  Start({"cat"});
  UniqueFd in = process_->TakeInput();
  ASSERT_EQ(::write(in.get(), "hello\n", 6), 6);
  EXPECT_EQ(ReadLine(), "hello");
  EXPECT_TRUE(process_->running());
  in.reset();
  Run();
  EXPECT_EQ(end_, "ended with exit code 0");
  EXPECT_FALSE(process_->running());
}

TEST_F(ChildProcessTest, StartsWithNothingElseOfOurs) {
  const UniqueFd leaky(::open("/dev/null", O_RDONLY));  // NOLINT(android-cloexec-open): on purpose
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  StartScript("env; ls /proc/self/fd; pwd; grep -E 'Sig(Blk|Ign)' /proc/self/status");
  const std::string output = ReadOutput();
  std::signal(SIGPIPE, old);
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  EXPECT_THAT(output, HasSubstr("A=1\n"));
  EXPECT_THAT(output, testing::Not(HasSubstr("HOME=")));
  EXPECT_THAT(output, HasSubstr("0\n1\n2\n3\n/\n")) << "3 is the folder that ls reads";
  // Signals 32 and 33 are the C library's own; posix_spawn leaves them ignored.
  EXPECT_THAT(output, HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t00000001"));
  EXPECT_THAT(output, testing::EndsWith("80000000\n"));
  Run();
}

TEST_F(ChildProcessTest, SaysHowItEnded) {
  StartScript("exit 3");
  Run();
  EXPECT_EQ(end_, "ended with exit code 3");
  StartScript("kill -ABRT $$");
  Run();
  EXPECT_EQ(end_, "was killed by SIGABRT");
}

TEST_F(ChildProcessTest, AHandlerThatComesLateRunsAndMayDestroy) {
  StartScript("exit 4");
  process_->OnExit(nullptr);
  Run();
  EXPECT_EQ(end_, "");
  process_->OnExit([this](const ChildExit& end) {
    end_ = ToText(end);
    process_.reset();
  });
  EXPECT_EQ(end_, "") << "not inside the call";
  Run();
  EXPECT_EQ(end_, "ended with exit code 4");
}

TEST_F(ChildProcessTest, KeepsTheEndOfStderr) {
  Start({"/bin/sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done >&2"}, 25);
  Run();
  EXPECT_EQ(process_->stderr_tail(), "4997\nline 4998\nline 4999\n") << "cut by bytes";
  StartScript("printf 'a\\377b' >&2");
  Run();
  EXPECT_EQ(process_->stderr_tail(),
            "a\xEF\xBF\xBD"
            "b");
}

TEST_F(ChildProcessTest, StopWaitsThenTerminatesThenKills) {
  StartScript("cat; exit 5");
  process_->TakeInput().reset();
  process_->Stop(milliseconds(5000));
  Run();
  EXPECT_EQ(end_, "ended with exit code 5") << "it ended with its input";

  StartScript("trap 'exit 6' TERM; echo ready; while :; do sleep 0.01; done");
  EXPECT_EQ(ReadLine(), "ready");
  process_->Stop(milliseconds(50));
  Run();
  EXPECT_EQ(end_, "ended with exit code 6");

  out_.reset();
  StartScript("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  EXPECT_EQ(ReadLine(), "ready");
  const auto begin = std::chrono::steady_clock::now();
  process_->Stop(milliseconds(50));
  process_->Stop(milliseconds(50));
  Run();
  EXPECT_EQ(end_, "was killed by SIGKILL");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(ChildProcessTest, AStoppedProgramEndsToo) {
  StartScript("trap 'exit 7' TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done");
  EXPECT_EQ(ReadLine(), "ready");
  process_->Stop(milliseconds(200));
  Run();
  EXPECT_EQ(end_, "ended with exit code 7");
}

TEST_F(ChildProcessTest, LeavesNothingBehind) {
  StartScript("sleep 1000 & echo $!; exit 0");
  const int descendant = std::stoi(ReadLine());
  Run();
  EXPECT_EQ(end_, "ended with exit code 0");
  EXPECT_TRUE(IsGoneSoon(descendant));
  EXPECT_EQ(::waitpid(process_->pid(), nullptr, WNOHANG), -1) << "reaped";
}

TEST_F(ChildProcessTest, DestructionKillsAndReapsAtOnce) {
  StartScript("trap '' TERM; sleep 1000 & echo $!; wait");
  const int descendant = std::stoi(ReadLine());
  const int pid = process_->pid();
  process_.reset();
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1) << "reaped";
  EXPECT_TRUE(IsGoneSoon(descendant));
  Run();
  EXPECT_EQ(end_, "") << "nothing is heard any more";
}

TEST_F(ChildProcessTest, NamesWhatCannotStart) {
  const auto refusal = [this](ChildProcessOptions options) {
    auto started = ChildProcess::Start(context_, options);
    return started.ok() ? "started" : started.error().message();
  };
  EXPECT_EQ(refusal({{"/no/such/program"}, {}, "", 0}),
            "starting /no/such/program: No such file or directory");
  EXPECT_EQ(refusal({{"no-such-program"}, {}, "", 0}),
            "starting no-such-program: No such file or directory");
  EXPECT_EQ(refusal({{"/etc/passwd"}, {}, "", 0}), "starting /etc/passwd: Permission denied");
  EXPECT_EQ(refusal({{"cat"}, {}, "/no/such/folder", 0}),
            "starting cat: No such file or directory");
  EXPECT_EQ(refusal({{}, {}, "", 0}), "a program to start must be named");
  EXPECT_EQ(refusal({{"cat", std::string("a\0b", 3)}, {}, "", 0}),
            "an argument of a program must not hold a NUL byte");
  for (const char* entry : {"NAME", "=value", ""}) {
    EXPECT_EQ(refusal({{"cat"}, {entry}, "", 0}),
              "an environment entry must be NAME=value without a NUL byte");
  }
}

TEST_F(ChildProcessTest, LosesNoDescriptor) {
  const auto count = [] {
    const std::filesystem::directory_iterator fds("/proc/self/fd");
    return std::distance(begin(fds), end(fds));
  };
  StartScript("exit 0");
  Run();
  process_.reset();
  const auto before = count();
  for (int round = 0; round < 3; ++round) {
    StartScript("echo x; echo y >&2");
    Run();
    process_.reset();
    EXPECT_FALSE(ChildProcess::Start(context_, {{"/no/such/program"}, {}, "", 100}).ok());
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace glovebox

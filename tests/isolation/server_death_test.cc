// SIGKILL of a server with running boxes, at any moment: no box outlives it, and the next server
// sweeps what only a living process could have removed.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "audit/witness.h"
#include "base/unique_fd.h"
#include "isolation_fixture.h"
#include "leftover.h"

namespace glovebox::isolation {
namespace {

using sandbox::Walls;

constexpr int kKills = 45;
constexpr int kDeathMs = 2'000;

struct Server {
  pid_t pid = -1;
  UniqueFd out;
};

Server StartServer() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  // One thread. NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* path = std::getenv("GLOVEBOX_ISOLATION_SERVER");
  std::string program = path == nullptr ? GLOVEBOX_ISOLATION_SERVER_DEFAULT : path;
  std::string zygote = ZygoteProgram();
  Server server{fork(), UniqueFd(ends[0])};
  if (server.pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    char* const argv[] = {program.data(), zygote.data(), nullptr};
    execv(program.c_str(), argv);
    _exit(127);
  }
  close(ends[1]);
  return server;
}

// Waits for a word of the server; whether it came.
bool AwaitRunning(const Server& server, int timeout_ms) {
  pollfd wait = {server.out.get(), POLLIN, 0};
  return poll(&wait, 1, timeout_ms) == 1 && (wait.revents & POLLIN) != 0;
}

std::string AwaitNoBoxes() {
  for (int waited_ms = 0; waited_ms < kDeathMs; waited_ms += 10) {
    if (BoxProcesses().empty()) return {};
    usleep(10'000);
  }
  std::string alive;
  for (const std::string& process : BoxProcesses()) alive += process + "\n";
  return alive;
}

void Kill(const Server& server) {
  kill(server.pid, SIGKILL);
  int status = 0;
  waitpid(server.pid, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the server ended by itself with status " << status;
}

void RunOneServer() {
  ExecutionRequest request;
  request.code = "print('swept')";
  const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
  EXPECT_EQ(outcome.stdout_stream.text, "swept\n") << Summary(outcome);
  Runner().Clear();
}

TEST_F(IsolationTest, KilledWithRunningBoxesNothingSurvives) {
  RunOneServer();  // folders that stay, such as the one of the locks, exist from here on
  const HostState before = LookAtHost();
  for (int i = 0; i < 5; ++i) {
    const Server server = StartServer();
    ASSERT_TRUE(AwaitRunning(server, 10'000)) << "no box came up";
    EXPECT_FALSE(BoxProcesses().empty());
    Kill(server);
    EXPECT_EQ(AwaitNoBoxes(), "");
  }
  RunOneServer();
  EXPECT_EQ(AwaitNoLeftovers(before, kDeathMs), "");
}

TEST_F(IsolationTest, KilledAtAnyMomentNothingSurvives) {
  RunOneServer();
  const HostState before = LookAtHost();
  std::mt19937 random(20'261'115);  // the same moments each time
  std::uniform_int_distribution<useconds_t> moment(0, 250'000);
  for (int i = 0; i < kKills; ++i) {
    const Server server = StartServer();
    usleep(moment(random));
    Kill(server);
    EXPECT_EQ(AwaitNoBoxes(), "") << "kill " << i;
  }
  RunOneServer();
  EXPECT_EQ(AwaitNoLeftovers(before, kDeathMs), "");
}

TEST_F(IsolationTest, TwoServersOnOneHostDoNotDisturbEachOther) {
  const Server one = StartServer();
  ASSERT_TRUE(AwaitRunning(one, 10'000));
  const std::size_t boxes = BoxProcesses().size();
  RunOneServer();  // its sweep must spare the living
  EXPECT_GE(BoxProcesses().size(), boxes);
  EXPECT_EQ(waitpid(one.pid, nullptr, WNOHANG), 0) << "the other server ended";
  Kill(one);
  EXPECT_EQ(AwaitNoBoxes(), "");
  RunOneServer();
}

}  // namespace
}  // namespace glovebox::isolation

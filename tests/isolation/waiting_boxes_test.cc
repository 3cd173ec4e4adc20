// Boxes that wait for requests: as locked as one that runs, replaced when they die, used once, and
// nothing of one reaches another.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <boost/asio/io_context.hpp>

#include "audit/cage.h"
#include "executor/local_executor.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// /proc/PID/status of every zygote, init and Python of a box, by pid.
std::map<pid_t, std::map<std::string, std::string>> PythonProcesses() {
  std::map<pid_t, std::map<std::string, std::string>> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::map<std::string, std::string> status;
    std::istringstream lines(FileText(entry.path() / "status"));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(":\t");
      if (colon != std::string::npos) status[line.substr(0, colon)] = line.substr(colon + 2);
    }
    const std::string& name = status["Name"];
    if (name == "glovebox-python" || name == "glovebox-init") found[pid] = std::move(status);
  }
  return found;
}

// How many PID namespaces below ours a process is in, and its number in the innermost.
std::pair<int, int> Depth(const std::string& ns_pids) {
  std::istringstream numbers(ns_pids);
  int count = 0;
  int last = 0;
  while (numbers >> last) ++count;
  return {count - 1, last};
}

std::vector<pid_t> At(int depth, int number) {
  std::vector<pid_t> pids;
  for (auto& [pid, status] : PythonProcesses()) {
    if (Depth(status["NSpid"]) == std::pair(depth, number)) pids.push_back(pid);
  }
  return pids;
}
std::vector<pid_t> Zygotes() { return At(1, 1); }
std::vector<pid_t> BoxInits() { return At(2, 1); }
std::vector<pid_t> BoxPythons() { return At(2, 2); }

class WaitingBoxesTest : public IsolationTest {
 protected:
  void Open(std::uint32_t warm, const std::function<void(LocalExecutorOptions&)>& change = {}) {
    LocalExecutorOptions options;
    options.zygote_program = ZygoteProgram();
    options.kinds = {{.name = "python", .warm_boxes = warm}};
    options.fill_at_start = true;
    if (change) change(options);
    auto made = CreateLocalExecutor(context_, std::move(options));
    ASSERT_TRUE(made.ok()) << made.error().message();
    executor_ = std::move(*made);
  }

  void TearDown() override { executor_.reset(); }

  void Rest(milliseconds time) {
    context_.restart();
    context_.run_for(time);
  }

  // Until so many wait; a box that is being born has no Python yet, or an unlocked one.
  bool AwaitBoxes(std::size_t count) {
    for (int i = 0; i < 500; ++i) {
      if (BoxPythons().size() == count && births_settled_ == BoxPythons()) return true;
      births_settled_ = BoxPythons();
      Rest(milliseconds(20));
    }
    return false;
  }

  std::shared_ptr<Execution> Start(ExecutionRequest request, std::optional<Outcome>& outcome) {
    return executor_->Start(std::move(request), nullptr, [this, &outcome](Outcome arrived) {
      outcome = std::move(arrived);
      context_.stop();
    });
  }

  Outcome Run(const std::string& code, std::uint64_t memory_bytes = 128u << 20) {
    ExecutionRequest request;
    request.code = code;
    request.limits.memory_bytes_max = memory_bytes;
    std::optional<Outcome> outcome;
    const auto execution = Start(std::move(request), outcome);
    for (int i = 0; i < 300 && !outcome; ++i) Rest(milliseconds(100));
    return outcome.value_or(Outcome());
  }

  std::string Printed(const std::string& code) {
    const Outcome outcome = Run(code);
    return outcome.stdout_stream.text + outcome.message;
  }

  boost::asio::io_context context_;
  std::unique_ptr<Executor> executor_;
  std::vector<pid_t> births_settled_;
};

TEST_F(WaitingBoxesTest, AreLockedBeforeTheRequestComes) {
  Open(3);
  ASSERT_TRUE(AwaitBoxes(3));
  Rest(milliseconds(200));
  auto processes = PythonProcesses();
  std::set<std::string> uids;
  for (const pid_t pid : BoxPythons()) {
    auto& status = processes[pid];
    EXPECT_EQ(status["Seccomp"], "2");
    EXPECT_EQ(status["NoNewPrivs"], "1");
    EXPECT_EQ(status["CapEff"], "0000000000000000");
    EXPECT_EQ(status["CapBnd"], "0000000000000000");
    uids.insert(status["Uid"]);
  }
  EXPECT_EQ(uids.size(), 3u) << "each has a uid of its own";
}

TEST_F(WaitingBoxesTest, AreUsedOnceAndReplaced) {
  Open(2);
  ASSERT_TRUE(AwaitBoxes(2));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Printed("import os; print(os.listdir('/tmp')); open('/tmp/x', 'w')"), "[]\n");
  }
  EXPECT_TRUE(AwaitBoxes(2));
}

// Memory that only this process holds, in kB.
long OwnMemory(pid_t pid) {
  const std::string rollup = FileText("/proc/" + std::to_string(pid) + "/smaps_rollup");
  const std::size_t at = rollup.find("Private_Dirty:");
  return at == std::string::npos ? 0 : std::atol(rollup.c_str() + at + sizeof("Private_Dirty:"));
}

long LeastOwnMemory(const std::vector<pid_t>& pids) {
  long least = LONG_MAX;
  for (const pid_t pid : pids) least = std::min(least, OwnMemory(pid));
  return least;
}

TEST_F(WaitingBoxesTest, ThoseMadeInAHurryAreReplacedByRehearsedOnes) {
  Open(4);
  ASSERT_TRUE(AwaitBoxes(4));
  const long rehearsed = LeastOwnMemory(BoxPythons());
  std::optional<Outcome> outcomes[24];
  std::vector<std::shared_ptr<Execution>> executions;
  for (std::optional<Outcome>& outcome : outcomes) {
    ExecutionRequest request;
    request.code = "print(1)";
    executions.push_back(Start(std::move(request), outcome));
  }
  const auto all_done = [&] {
    return std::all_of(std::begin(outcomes), std::end(outcomes),
                       [](const auto& outcome) { return outcome.has_value(); });
  };
  for (int i = 0; i < 300 && !all_done(); ++i) Rest(milliseconds(100));
  ASSERT_TRUE(all_done());
  Rest(milliseconds(500));
  ASSERT_TRUE(AwaitBoxes(4));
  // What a rehearsal touched is the box's own: one without has a third of it.
  EXPECT_GT(LeastOwnMemory(BoxPythons()), rehearsed * 3 / 4);
}

TEST_F(WaitingBoxesTest, CallsInARowMeetNoBirth) {
  Open(8);
  for (int attempt = 0; attempt < 20; ++attempt) {
    ASSERT_TRUE(AwaitBoxes(8));
    const std::vector<pid_t> before = BoxInits();
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < 4; ++call) ASSERT_EQ(Printed("print(1)"), "1\n");
    const auto took = std::chrono::steady_clock::now() - start;
    const std::vector<pid_t> after = BoxInits();
    Rest(milliseconds(200));
    if (took > milliseconds(8)) continue;  // a busy machine: these were not in a row
    EXPECT_EQ(after, before);
    ASSERT_TRUE(AwaitBoxes(8));
    EXPECT_NE(BoxInits(), before) << "but then those that were used are replaced";
    return;
  }
  FAIL() << "four calls took longer than 8 ms, twenty times";
}

TEST_F(WaitingBoxesTest, ARehearsalLeavesNoTrace) {
  Open(2);
  ASSERT_TRUE(AwaitBoxes(2));
  EXPECT_EQ(Printed("import sys; print(sorted(n for n in dir() if n[0] != '_'), sys.argv)"),
            "['sys'] ['<sandbox>']\n");
}

TEST_F(WaitingBoxesTest, LeaveNoDeadProcessAndReapTheirOwn) {
  Open(2);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Printed("import os\n"
                      "child = os.fork()\n"
                      "if child == 0: os._exit(7)\n"
                      "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"),
              "7\n");
  }
  ASSERT_TRUE(AwaitBoxes(2));
  for (auto& [pid, status] : PythonProcesses()) {
    EXPECT_NE(status["State"].front(), 'Z') << status["Name"] << " " << pid;
  }
}

TEST_F(WaitingBoxesTest, OneThatDiesIsReplaced) {
  Open(2);
  ASSERT_TRUE(AwaitBoxes(2));
  const std::vector<pid_t> before = BoxInits();
  kill(before.at(0), SIGKILL);
  Rest(milliseconds(100));
  EXPECT_TRUE(AwaitBoxes(2));
  EXPECT_NE(BoxInits(), before);
  EXPECT_EQ(Printed("print(1)"), "1\n");
}

TEST_F(WaitingBoxesTest, ARequestGivenToADeadOneGoesToAnother) {
  Open(2);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(AwaitBoxes(2));
    // Not in the loop in between: the executor still believes in them.
    for (const pid_t pid : BoxInits()) kill(pid, SIGKILL);
    usleep(20'000);
    EXPECT_EQ(Printed("print('alive')"), "alive\n") << "round " << round;
  }
}

TEST_F(WaitingBoxesTest, TheZygotesDeathIsSurvived) {
  Open(2);
  ASSERT_TRUE(AwaitBoxes(2));
  for (const pid_t pid : Zygotes()) kill(pid, SIGKILL);
  // Until its boxes are dead: one that still reads the request may have run some of it.
  for (int i = 0; i < 100 && !BoxPythons().empty(); ++i) usleep(10'000);
  EXPECT_EQ(Printed("print('alive')"), "alive\n");
  EXPECT_TRUE(AwaitBoxes(2));
}

// Those that make boxes for their zygote: of its namespace, and not its first process.
std::vector<pid_t> Makers() {
  std::vector<pid_t> makers;
  for (auto& [pid, status] : PythonProcesses()) {
    const auto [depth, number] = Depth(status["NSpid"]);
    if (depth == 1 && number != 1) makers.push_back(pid);
  }
  return makers;
}

TEST_F(WaitingBoxesTest, EveryCpuHasAMaker) {
  Open(8);
  ASSERT_TRUE(AwaitBoxes(8));
  const std::size_t cpus = std::min(std::thread::hardware_concurrency(), 4u);
  ASSERT_EQ(Makers().size(), cpus > 1 ? cpus : 0);
  auto processes = PythonProcesses();
  std::set<std::string> parents;
  for (const pid_t pid : BoxInits()) parents.insert(processes[pid]["PPid"]);
  EXPECT_GE(parents.size(), std::min<std::size_t>(cpus, 2)) << "two are born at a time";
}

TEST_F(WaitingBoxesTest, TheEndOfAMakerIsItsZygotes) {
  Open(2);
  ASSERT_TRUE(AwaitBoxes(2));
  const std::vector<pid_t> zygotes = Zygotes();
  if (Makers().empty()) {
    ASSERT_EQ(std::thread::hardware_concurrency(), 1u);
    return;
  }
  kill(Makers().front(), SIGKILL);
  for (int i = 0; i < 100 && !BoxPythons().empty(); ++i) usleep(10'000);
  EXPECT_TRUE(Makers().empty()) << "none goes on without the others";
  EXPECT_EQ(Printed("print('alive')"), "alive\n");
  EXPECT_TRUE(AwaitBoxes(2));
  EXPECT_NE(Zygotes(), zygotes);
}

TEST_F(WaitingBoxesTest, ARequestsOwnLimitHolds) {
  Open(2);
  ASSERT_TRUE(AwaitBoxes(2));
  const std::string code = "b = bytearray(300 << 20)\nprint(len(b) >> 20)";
  EXPECT_EQ(Run(code, 64u << 20).status, ExecutionStatus::kLimitExceeded);
  EXPECT_EQ(Run(code, 512u << 20).stdout_stream.text, "300\n");
  EXPECT_EQ(Run(code).status, ExecutionStatus::kLimitExceeded) << "and is not the next one's";
}

TEST_F(WaitingBoxesTest, BoxesOfOneZygoteDrawDifferentNumbers) {
  Open(4, [](LocalExecutorOptions& options) {
    options.kinds[0].preimports = {"random", "uuid", "ssl", "hashlib"};
  });
  for (const char* draw : {"random.random()", "uuid.uuid4()", "ssl.RAND_bytes(8)",
                           "__import__('os').urandom(8)", "random.SystemRandom().random()"}) {
    std::set<std::string> drawn;
    for (int i = 0; i < 4; ++i) {
      drawn.insert(Printed("import random, ssl, uuid; print(" + std::string(draw) + ")"));
    }
    EXPECT_EQ(drawn.size(), 4u) << draw;
  }
}

TEST_F(WaitingBoxesTest, AForkInABoxDrawsOtherNumbersThanItsParent) {
  Open(1, [](LocalExecutorOptions& options) { options.kinds[0].preimports = {"random"}; });
  // gauss() makes two numbers at a time, and keeps one for the next call.
  const std::string code =
      "import os, random\nrandom.gauss(0, 1)\nread_end, write_end = os.pipe()\n"
      "if os.fork() == 0:\n"
      "    os.write(write_end, repr((random.gauss(0, 1), random.random())).encode())\n"
      "    os._exit(0)\n"
      "child = eval(os.read(read_end, 999))\n"
      "print([a == b for a, b in zip(child, (random.gauss(0, 1), random.random()))])\n"
      "random.seed(7)\nprint(random.random())\n";
  EXPECT_EQ(Printed(code), "[False, False]\n0.32383276483316237\n");
}

TEST_F(WaitingBoxesTest, AForkIsSilentWhateverAProgramMadeOfTheGenerator) {
  Open(1, [](LocalExecutorOptions& options) { options.kinds[0].preimports = {"random"}; });
  const Outcome outcome =
      Run("import os, random\nvars(random._inst).clear()\ndel random.Random.seed\n"
          "if os.fork() == 0:\n    os._exit(0)\nos.wait()\nprint('done')\n");
  EXPECT_EQ(outcome.stdout_stream.text, "done\n");
  EXPECT_EQ(outcome.stderr_stream.text, "");
}

TEST_F(WaitingBoxesTest, AFreshInterpreterEachTimeIfAskedFor) {
  Open(2, [](LocalExecutorOptions& options) { options.zygote_life.boxes_max = 1; });
  std::set<std::string> seeds;
  for (int i = 0; i < 5; ++i) seeds.insert(Printed("print(hash('seed'))"));
  EXPECT_EQ(seeds.size(), 5u);
}

TEST_F(WaitingBoxesTest, FreshInterpretersRestWhenEnoughWait) {
  Open(2, [](LocalExecutorOptions& options) { options.zygote_life.boxes_max = 1; });
  ASSERT_TRUE(AwaitBoxes(2));
  EXPECT_EQ(Printed("print(1)"), "1\n");
  Rest(milliseconds(500));
  ASSERT_TRUE(AwaitBoxes(2));
  Rest(milliseconds(500));
  const std::vector<pid_t> before = Zygotes();
  Rest(milliseconds(1000));
  EXPECT_EQ(Zygotes(), before) << "nobody asked for another";
}

TEST_F(WaitingBoxesTest, ZygotesAreReplacedAndEnd) {
  Open(2, [](LocalExecutorOptions& options) { options.zygote_life.boxes_max = 4; });
  std::set<std::string> seeds;
  for (int i = 0; i < 24; ++i) {
    const std::string seed = Printed("print(hash('seed'))");
    EXPECT_EQ(seed.back(), '\n') << seed;
    seeds.insert(seed);
    Rest(milliseconds(20));
  }
  EXPECT_GT(seeds.size(), 1u);
  EXPECT_LT(seeds.size(), 24u);
  for (int i = 0; i < 100 && Zygotes().size() > 1; ++i) Rest(milliseconds(50));
  EXPECT_EQ(Zygotes().size(), 1u) << "replaced ones end with their last box";
}

TEST_F(WaitingBoxesTest, AFullQueueSaysWhichSettingIsFull) {
  Open(1, [](LocalExecutorOptions& options) {
    options.boxes_max = 1;
    options.queue_max = 1;
  });
  std::optional<Outcome> outcomes[3];
  std::shared_ptr<Execution> executions[3];
  for (int i = 0; i < 3; ++i) {
    ExecutionRequest request;
    request.code = "import time; time.sleep(0.2); print('ran')";
    executions[i] = Start(std::move(request), outcomes[i]);
  }
  // The first is in a box or waits for the zygote; either way the third finds no place.
  for (int i = 0; i < 200 && !(outcomes[0] && outcomes[2]); ++i) Rest(milliseconds(50));
  ASSERT_TRUE(outcomes[2].has_value());
  EXPECT_EQ(outcomes[2]->status, ExecutionStatus::kSetupFailed);
  EXPECT_NE(outcomes[2]->message.find("`queue`"), std::string::npos) << outcomes[2]->message;
  ASSERT_TRUE(outcomes[0].has_value());
  EXPECT_EQ(outcomes[0]->stdout_stream.text, "ran\n") << outcomes[0]->message;
}

}  // namespace
}  // namespace glovebox::isolation

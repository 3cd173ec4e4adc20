// Limits that no cgroup holds (tier B), measured from outside: by the cage that everything here
// runs in. Executors are a normal user's.
#include <algorithm>
#include <cstdio>

#include "audit/witness.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

constexpr std::uint64_t kLimitBytes = 128ull << 20;
constexpr std::uint64_t kPromisedBytes = kLimitBytes + kLimitBytes / 4;

struct Growth {
  const char* name;
  const char* code;
};

// Each goes on until it is stopped; those that reach the end of their code say so.
const Growth kGrowths[] = {
    {"Heap", "x = []\nwhile True: x.append(bytearray(1 << 20))"},
    {"Mmap",
     "import mmap\nm = mmap.mmap(-1, 200 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
     "for i in range(0, 200 << 20, 4096): m[i] = 1\nprint('end')"},
    {"SharedMapping",
     "import mmap\nm = mmap.mmap(-1, 1 << 30, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)\n"
     "for i in range(0, 1 << 30, 4096): m[i] = 1\nprint('end')"},
    {"Shm",
     "x = []\nfrom multiprocessing import shared_memory as s\nfor _ in range(9):\n"
     "    x.append(s.SharedMemory(create=True, size=20 << 20))\n    x[-1].buf[:] = bytes(20 << "
     "20)\n"
     "print('end')"},
    {"Tmpfs",
     "for f in ('/tmp/a', '/work/a', '/dev/shm/a'):\n    with open(f, 'wb') as g:\n"
     "        for _ in range(60): g.write(bytes(1 << 20)); g.flush()\n"
     "import time; time.sleep(2)\nprint('end')"},
    {"Memfd", "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 20))"},
    {"SparseFile",
     "import mmap\nf = open('/tmp/a', 'w+b'); f.truncate(60 << 20)\nm = mmap.mmap(f.fileno(), 0)\n"
     "x = []\nfor i in range(0, 60 << 20, 4096): m[i] = 1\n"
     "while True: x.append(bytearray(1 << 20))"},
    {"EightForks",
     "import os\nfor _ in range(3): os.fork()\nx = []\nwhile True: x.append(bytearray(1 << 20))"},
    {"ForksThatTouchAtOnce",
     "import mmap, os, time\nm = mmap.mmap(-1, 100 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
     "for _ in range(3): os.fork()\ntime.sleep(0.2)\n"
     "for i in range(0, 100 << 20, 4096): m[i] = 1\ntime.sleep(2)\nprint('end')"},
};

class MeteredTest : public IsolationTest, public testing::WithParamInterface<Growth> {
 protected:
  void SetUp() override {
    IsolationTest::SetUp();
    ASSERT_TRUE(ExecutorUser()) << "a normal user's: set GLOVEBOX_ISOLATION_UID";
  }

  static ExecutionRequest Request(const std::string& code) {
    ExecutionRequest request;
    request.code = code;
    request.limits.wall_ms_max = 20'000;
    request.limits.memory_bytes_max = kLimitBytes;
    return request;
  }
};

TEST_P(MeteredTest, EndsBelowTheLimitAndAQuarter) {
  if (IsSkipped()) return;
  // Warm: what the zygote and the first box cost is nobody's growth.
  ASSERT_EQ(Runner().Run(sandbox::Walls::All(), Request("import mmap")).status,
            ExecutionStatus::kCompleted);
  Runner().RunUntil([] { return false; }, 100);
  const std::uint64_t before = CageMemoryBytes();
  ASSERT_TRUE(ResetCageMemoryPeak().ok());
  const Outcome outcome = Runner().Run(sandbox::Walls::All(), Request(GetParam().code));
  const std::uint64_t grown = CageMemoryPeak() - std::min(before, CageMemoryPeak());
  RecordProperty("grown_mib", static_cast<int>(grown >> 20));
  EXPECT_EQ(outcome.limits_tier, LimitsTier::kSupervisor);
  EXPECT_NE(outcome.status, ExecutionStatus::kCompleted) << outcome.stdout_stream.text;
  EXPECT_EQ(outcome.stdout_stream.text.find("end"), std::string::npos);
  EXPECT_LT(grown, kPromisedBytes) << (grown >> 20) << " MiB at once; " << Summary(outcome);
  std::printf("  %s: %llu MiB at a limit of %llu\n", GetParam().name,
              static_cast<unsigned long long>(grown >> 20),
              static_cast<unsigned long long>(kLimitBytes >> 20));
}

INSTANTIATE_TEST_SUITE_P(Growths, MeteredTest, testing::ValuesIn(kGrowths),
                         [](const auto& growth) { return std::string(growth.param.name); });

TEST_F(MeteredTest, AForkBombIsContained) {
  if (IsSkipped()) return;
  ASSERT_EQ(Runner().Run(sandbox::Walls::All(), Request("1")).status, ExecutionStatus::kCompleted);
  const std::uint32_t before = CageTasks();
  std::uint32_t most = 0;
  ExecutionRequest request =
      Request("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass");
  request.limits.wall_ms_max = 1'500;
  const std::uint32_t allowed = request.limits.processes_max;
  const Outcome outcome = Runner().Run(sandbox::Walls::All(), std::move(request),
                                       [&] { most = std::max(most, CageTasks()); });
  EXPECT_NE(outcome.status, ExecutionStatus::kCompleted);
  EXPECT_LT(most, before + allowed + 16) << "allowed: " << allowed;
}

}  // namespace
}  // namespace glovebox::isolation

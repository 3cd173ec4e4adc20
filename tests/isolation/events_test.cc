// What is told of a box: attempts that the kernel refused, whatever the code does about it.
#include <algorithm>

#include "isolation_fixture.h"
#include "sandbox/parent/call_watcher.h"

namespace glovebox::isolation {
namespace {

using sandbox::Walls;

class EventsTest : public IsolationTest {
 protected:
  static Outcome RunCode(const std::string& code) {
    ExecutionRequest request;
    request.code = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n" + code;
    request.limits.memory_bytes_max = 512ull << 20;
    return Runner().Run(Walls::All(), std::move(request));
  }

  static std::vector<Event> KernelEvents(const Outcome& outcome) {
    std::vector<Event> events;
    std::copy_if(outcome.events.begin(), outcome.events.end(), std::back_inserter(events),
                 [](const Event& event) { return event.source == EventSource::kKernel; });
    return events;
  }
};

TEST_F(EventsTest, AnAttemptIsToldThoughTheCodeSwallowsIt) {
  const Outcome outcome = RunCode("libc.unshare(0x10000000)\nprint('fine')");
  EXPECT_EQ(outcome.stdout_stream.text, "fine\n");
  const auto events = KernelEvents(outcome);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].layer, "seccomp");
  EXPECT_EQ(events[0].operation, "unshare");
  EXPECT_EQ(events[0].target, "user");
  EXPECT_TRUE(events[0].refused);
  EXPECT_FALSE(events[0].rule.empty());
  EXPECT_FALSE(events[0].remedy.empty());
  EXPECT_GT(events[0].seconds, 0);
}

TEST_F(EventsTest, AttemptsOfChildrenAndThreadsAreTold) {
  const Outcome outcome = RunCode(R"(
import threading
if (pid := os.fork()) == 0:
    libc.chroot(b"/tmp")
    os._exit(0)
os.waitpid(pid, 0)
thread = threading.Thread(target=lambda: libc.mount(b"none", b"/mnt", b"tmpfs", 0, None))
thread.start()
thread.join()
)");
  const auto events = KernelEvents(outcome);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].operation + " " + events[0].target, "chroot /tmp");
  EXPECT_EQ(events[1].operation + " " + events[1].target, "mount /mnt");
}

TEST_F(EventsTest, MemoryThatCannotBeReadHidesNothing) {
  const auto events = KernelEvents(RunCode("libc.chroot(ctypes.c_void_p(16))"));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].operation, "chroot");
  EXPECT_EQ(events[0].target, "<unreadable>");
}

TEST_F(EventsTest, AForeignCallIsTold) {
  const auto events = KernelEvents(RunCode("libc.syscall(0x40000000 | 39)"));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].operation, "foreign system call");
}

TEST_F(EventsTest, AFloodIsCountedAndEndsTheBox) {
  const Outcome outcome = RunCode("while True: libc.unshare(0x10000000)");
  EXPECT_EQ(StatusName(outcome.status), "limit_exceeded");
  EXPECT_EQ(outcome.limits_hit, std::vector<std::string>{"events"});
  EXPECT_EQ(KernelEvents(outcome).size(), sandbox::kCallEventsMax);
  EXPECT_GE(outcome.events_dropped, sandbox::kCallEventsBeforeEnd - sandbox::kCallEventsMax);
}

TEST_F(EventsTest, OrdinaryProgramsMakeNone) {
  for (const char* code : {
           "print(sum(range(100)))",
           "import threading\n"
           "threads = [threading.Thread(target=print) for _ in range(8)]\n"
           "[t.start() for t in threads]; [t.join() for t in threads]",
           "import asyncio\nasyncio.run(asyncio.sleep(0.01))",
           "import sqlite3\nc = sqlite3.connect('a.db')\nc.execute('create table "
           "t(a)')\nc.commit()",
           "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
           "    print(pool.map(abs, [-1, 2]))",
           "import getpass, pwd, grp\ngetpass.getuser(); pwd.getpwall(); grp.getgrall()\n"
           "os.path.expanduser('~root')",
           "import tempfile, shutil, pathlib\nd = tempfile.mkdtemp()\n"
           "pathlib.Path(d, 'x').write_text('y')\nshutil.copytree(d, '/work/c')\n"
           "shutil.make_archive('/work/z', 'zip', d)",
           "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: None)\n"
           "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.05)",
           "import numpy, pandas\nprint(pandas.DataFrame(numpy.random.rand(50, "
           "50)).describe().shape)",
       }) {
    const Outcome outcome = RunCode(code);
    EXPECT_EQ(StatusName(outcome.status), "completed") << code << ": " << outcome.message;
    for (const Event& event : KernelEvents(outcome)) {
      ADD_FAILURE() << code << ": " << event.operation << " " << event.target;
    }
  }
}

}  // namespace
}  // namespace glovebox::isolation

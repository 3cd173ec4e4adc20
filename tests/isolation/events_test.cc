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

  static std::vector<Event> EventsOf(const Outcome& outcome, EventSource source) {
    std::vector<Event> events;
    std::copy_if(outcome.events.begin(), outcome.events.end(), std::back_inserter(events),
                 [source](const Event& event) { return event.source == source; });
    return events;
  }
  static std::vector<Event> KernelEvents(const Outcome& outcome) {
    return EventsOf(outcome, EventSource::kKernel);
  }

  // Exactly as the user wrote it: lines count from 1.
  static Outcome RunExactly(const std::string& code) {
    ExecutionRequest request;
    request.code = code;
    request.limits.memory_bytes_max = 512ull << 20;
    return Runner().Run(Walls::All(), std::move(request));
  }

  static std::string Told(const std::vector<Event>& events) {
    std::string text;
    for (const Event& event : events) text += event.operation + " " + event.target + "\n";
    return text;
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

// One row for each family that the interpreter sees, on line 2 of its program.
struct Attempt {
  const char* code;
  const char* operation;
  const char* target;
  bool refused;
  const char* remedy;
};

constexpr Attempt kAttempts[] = {
    {"import os\nos.system('id')", "os.system", "id", true, "nothing allows it"},
    {"import subprocess\nsubprocess.run(['id', '-u'])", "subprocess.Popen", "id -u", true,
     "nothing allows it"},
    {"import os\nos.execv('/bin/sh', ['sh'])", "os.exec", "/bin/sh", true, "nothing allows it"},
    {"import os\nos.posix_spawn('/bin/sh', ['sh'], {})", "os.posix_spawn", "/bin/sh", true,
     "nothing allows it"},
    {"import socket\nsocket.socket()", "socket", "family 2", true, "nothing allows it"},
    {"import socket\nsocket.getaddrinfo('example.test', 80)", "socket.getaddrinfo", "example.test",
     true, "nothing allows it"},
    {"import http.client\nhttp.client.HTTPConnection('example.test').request('GET', '/')",
     "http.client.connect", "example.test", true, "nothing allows it"},
    {"import socket\nsocket.socketpair()[0].connect('/run/x')", "socket.connect", "/run/x", true,
     "nothing allows it"},
    {"import ctypes\nctypes.CDLL('libm.so.6')", "ctypes.dlopen", "libm.so.6", false, "allowed"},
    {"pass\nopen('/etc/shadow')", "open", "/etc/shadow", false, "SANDBOX_READ_PATHS"},
    {"import pathlib\npathlib.Path('/root/.ssh/id_rsa').read_text()", "open", "/root/.ssh/id_rsa",
     false, "SANDBOX_READ_PATHS"},
    {"pass\nopen('../etc/hostname')", "open", "../etc/hostname", false, "SANDBOX_READ_PATHS"},
    {"pass\nopen('/usr/lib/x', 'w')", "open", "/usr/lib/x", false, "SANDBOX_WRITE_PATHS"},
    {"import os\nos.listdir('/home')", "os.listdir", "/home", false, "SANDBOX_READ_PATHS"},
    {"import os\nos.remove('/etc/passwd')", "os.remove", "/etc/passwd", false,
     "SANDBOX_WRITE_PATHS"},
    {"import pandas\npandas.read_csv('/srv/data.csv')", "open", "/srv/data.csv", false,
     "SANDBOX_READ_PATHS"},
    {"import resource\nresource.setrlimit(resource.RLIMIT_CORE, (9, 9))", "resource.setrlimit", "4",
     false, "memory_limit"},
};

TEST_F(EventsTest, TheInterpreterTellsEachFamilyCompletely) {
  for (const Attempt& attempt : kAttempts) {
    const Outcome outcome = RunExactly(attempt.code);
    const auto events = EventsOf(outcome, EventSource::kInterpreter);
    ASSERT_EQ(events.size(), 1u) << attempt.code << "\n" << Told(events) << outcome.message;
    EXPECT_EQ(events[0].operation, attempt.operation) << attempt.code;
    EXPECT_EQ(events[0].target, attempt.target) << attempt.code;
    EXPECT_EQ(events[0].line, 2) << attempt.code;
    EXPECT_EQ(events[0].refused, attempt.refused) << attempt.code;
    EXPECT_EQ(events[0].layer, "interpreter");
    EXPECT_GT(events[0].seconds, 0) << attempt.code;
    EXPECT_FALSE(events[0].rule.empty()) << attempt.code;
    EXPECT_NE(events[0].remedy.find(attempt.remedy), std::string::npos) << events[0].remedy;
    if (!attempt.refused) continue;
    // The exception is ours: it says what the event says.
    ASSERT_TRUE(outcome.error) << attempt.code;
    EXPECT_NE(outcome.error->message.find(events[0].rule), std::string::npos)
        << outcome.error->message;
    EXPECT_NE(outcome.error->message.find(events[0].remedy), std::string::npos)
        << outcome.error->message;
  }
}

TEST_F(EventsTest, ARequestOfAUrlNamesIt) {
  const auto events = EventsOf(
      RunExactly("import urllib.request\ntry: urllib.request.urlopen('http://example.test/a')\n"
                 "except OSError: pass"),
      EventSource::kInterpreter);
  ASSERT_GE(events.size(), 1u);
  EXPECT_EQ(events[0].operation + " " + events[0].target, "urllib.Request http://example.test/a");
}

// A module that the user wrote is the user's code, also while it is imported.
TEST_F(EventsTest, ImportsOfOwnModulesAreToldAndThoseOfTheRuntimeAreNot) {
  const auto events = EventsOf(RunExactly("import sys\n"
                                          "open('/work/own.py', 'w').write(\"\"\"\n"
                                          "import os\n"
                                          "try: os.system('id')\n"
                                          "except PermissionError: pass\n\"\"\")\n"
                                          "sys.path.insert(0, '/work')\n"
                                          "import own, ctypes, webbrowser, matplotlib.pyplot\n"),
                               EventSource::kInterpreter);
  EXPECT_EQ(Told(events), "os.system id\n");
}

// What the interpreter refuses the kernel never sees; without it the kernel tells.
TEST_F(EventsTest, PastTheInterpreterTheKernelTells) {
  const auto events = KernelEvents(RunCode("libc.execv(b'/bin/sh', None)"));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].operation + " " + events[0].target, "execve /bin/sh");
  EXPECT_EQ(events[0].remedy, "nothing allows it in a box");
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
           "import getpass, os, pwd, grp\ngetpass.getuser(); pwd.getpwall(); grp.getgrall()\n"
           "os.path.expanduser('~root')",
           "import tempfile, shutil, pathlib\nd = tempfile.mkdtemp()\n"
           "pathlib.Path(d, 'x').write_text('y')\nshutil.copytree(d, '/work/c')\n"
           "shutil.make_archive('/work/z', 'zip', d)",
           "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: None)\n"
           "signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.05)",
           "import numpy, pandas\nprint(pandas.DataFrame(numpy.random.rand(50, "
           "50)).describe().shape)",
           "import pandas\npandas.DataFrame({'a': [1, 2]}).to_csv('t.csv')\n"
           "print(pandas.read_csv('t.csv').sum())",
           "import matplotlib.pyplot as plot\nplot.plot([1, 2]); plot.savefig('p.png')",
           "import zoneinfo, "
           "datetime\nprint(datetime.datetime.now(zoneinfo.ZoneInfo('Asia/Tokyo')))",
           "import logging, csv, json, gzip, uuid, hashlib, random, secrets, decimal, platform\n"
           "logging.basicConfig(filename='log.txt'); logging.warning('x'); uuid.uuid4()\n"
           "gzip.open('a.gz', 'wt').write('x'); print(platform.platform(), secrets.token_hex())",
           "import ssl, email, urllib.parse, html.parser, xml.etree.ElementTree, unittest.mock\n"
           "ssl.create_default_context(); import requests",
           "import os, glob\nos.makedirs('a/b'); os.chdir('a'); open('c', 'w').close()\n"
           "os.rename('c', 'b/d'); print(glob.glob('**', recursive=True), os.listdir('.'))\n"
           "os.remove('b/d'); open(os.devnull, 'w').close(); os.listdir()",
           "exec(compile('import math; print(math.pi)', '<string>', 'exec'))",
       }) {
    const Outcome outcome = RunExactly(code);
    EXPECT_EQ(StatusName(outcome.status), "completed") << code << ": " << outcome.message;
    for (const Event& event : outcome.events) {
      ADD_FAILURE() << code << ": " << event.operation << " " << event.target;
    }
  }
}

}  // namespace
}  // namespace glovebox::isolation

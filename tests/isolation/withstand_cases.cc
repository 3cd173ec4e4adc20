#include "withstand_cases.h"

#include <csignal>

namespace glovebox::isolation {
namespace {

constexpr auto kCompleted = ExecutionStatus::kCompleted;
constexpr auto kFailed = ExecutionStatus::kFailed;
constexpr auto kTimedOut = ExecutionStatus::kTimedOut;
constexpr auto kLimitExceeded = ExecutionStatus::kLimitExceeded;
constexpr ExecutionLimits kShort = {.wall_ms_max = 400};

std::vector<HostileCase> ForgedFrames() {
  return {
      {.name = "ForgedFramesOnEveryDescriptor",
       .code = R"(
import os, struct
os.set_blocking(1, True)
for fd in range(3, 1024):
    try:
        os.set_blocking(fd, False)
        for size in (0, 1, 24, 0x7fffffff, 0xffffffff):
            for kind in range(8):
                for pack in ("<I", ">I", "<Q"):
                    os.write(fd, struct.pack(pack, size) + bytes([kind]) * min(size, 64))
        os.write(fd, os.urandom(65536))
    except OSError:
        pass
print("after")
)",
       .statuses = {kFailed, kCompleted, ExecutionStatus::kViolated}},
      {.name = "ForgedResults",
       .code = R"(
import os, struct
ready, run, result = 0x59444247, 0x4E524247, 0x53524247
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack("<II", result, 58) + bytes(58))
        os.write(fd, struct.pack("<II", ready, 0) * 3 + struct.pack("<II", run, 4) + b"pass")
        os.write(fd, struct.pack("<II", result, 0xffffffff))
    except OSError:
        pass
)",
       .statuses = {kFailed}},
      {.name = "AResultThatNeverEnds",
       .code = R"(
import os, struct, time
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack("<II", 0x53524247, 8 << 20) + bytes(1 << 16))
    except OSError:
        pass
time.sleep(1000)
)",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "EndlessForgedFrames",
       .code = R"(
import os
while True:
    for fd in range(3, 64):
        try:
            os.set_blocking(fd, False)
            os.write(fd, os.urandom(65536))
        except OSError:
            pass
)",
       .statuses = {kFailed, kTimedOut, kLimitExceeded, ExecutionStatus::kViolated},
       .limits = kShort},
  };
}

std::vector<HostileCase> Descriptors() {
  return {
      {.name = "ClosesEveryDescriptor",
       .code = "import os\nprint('before', flush=True)\nos.closerange(0, 65536)\n",
       .statuses = {kFailed},
       .stdout_has = "before"},
      {.name = "ClosesEveryDescriptorAndSpins",
       .code = "import os\nos.closerange(0, 65536)\nwhile True: pass\n",
       .statuses = {kTimedOut, kFailed},
       .limits = kShort},
      {.name = "DuplicatesOutputOverEveryDescriptor",
       .code = R"(
import os
for fd in range(3, 1024):
    try:
        os.fstat(fd)
        os.dup2(1, fd)
    except OSError:
        pass
print("still here")
)",
       .statuses = {kFailed, kCompleted},
       .stdout_has = "still here"},
      {.name = "ReadsEveryDescriptor",
       .code = R"(
import os
for fd in range(3, 1024):
    try:
        os.set_blocking(fd, False)
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
print("read all")
)",
       .statuses = {kCompleted, kFailed},
       .stdout_has = "read all"},
      {.name = "ExhaustsDescriptors",
       .code = "import os\nheld = []\nwhile True: held.append(os.dup(0))\n",
       .statuses = {kFailed}},
  };
}

std::vector<HostileCase> Deaf() {
  return {
      {.name = "BlocksEverySignal",
       .code = R"(
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass
)",
       .statuses = {kTimedOut},
       .limit_hit = "wall",
       .limits = kShort},
      {.name = "CatchesEverything",
       .code = R"(
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
)",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "StopsItself",
       .code = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "Sleeps",
       .code = "import time\ntime.sleep(1000)\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "SpinsInCPower",
       .code = "7 ** (10 ** 9)\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "SpinsInCSum",
       .code = "import itertools\nsum(itertools.repeat(1))\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "SpinsInCRegex",
       .code = "import re\nre.match('(a+)+$', 'a' * 64 + 'b')\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "AThreadNeverEnds",
       .code =
           "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n",
       .statuses = {kTimedOut, kCompleted},
       .limits = kShort},
      {.name = "HangsAtExit",
       .code = "import atexit, time\natexit.register(time.sleep, 1000)\n",
       .statuses = {kTimedOut, kCompleted},
       .limits = kShort},
      {.name = "UsesUpItsProcessorTime",
       .code = "while True: pass\n",
       .statuses = {kTimedOut},
       .limit_hit = "cpu",
       .limits = {.wall_ms_max = 5'000, .cpu_ms_max = 300}},
  };
}

std::vector<HostileCase> Ends() {
  return {
      {.name = "SegmentationFault",
       .code = "import ctypes\nprint('before', flush=True)\nctypes.string_at(0)\n",
       .statuses = {kFailed},
       .signal = SIGSEGV,
       .stdout_has = "before"},
      {.name = "Abort",
       .code = "import os\nos.abort()\n",
       .statuses = {kFailed},
       .signal = SIGABRT},
      {.name = "KillsItself",
       .code = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
       .statuses = {kFailed},
       .signal = SIGKILL},
      {.name = "TerminatesItself",
       .code = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
       .statuses = {kFailed},
       .signal = SIGTERM},
      {.name = "ImmediateExitZeroIsNoSuccess",
       .code = "import os\nos._exit(0)\n",
       .statuses = {kFailed}},
      {.name = "ImmediateExitKeepsItsCode",
       .code = "import os\nos._exit(7)\n",
       .statuses = {kFailed},
       .exit_code = 7},
      {.name = "SystemExitKeepsItsCode",
       .code = "import sys\nsys.exit(9)\n",
       .statuses = {kFailed},
       .exit_code = 9},
      {.name = "SystemExitZeroIsSuccess",
       .code = "import sys\nsys.exit(0)\n",
       .statuses = {kCompleted},
       .exit_code = 0},
      {.name = "Recursion", .code = "def f(): f()\nf()\n", .statuses = {kFailed}},
      {.name = "RecursionWithoutLimit",
       .code = "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return [f()]\nf()\n",
       .statuses = {kFailed, kLimitExceeded}},
      {.name = "RecursionInC",
       .code = "x = ()\nfor _ in range(1000000): x = (x,)\nhash(x)\n",
       .statuses = {kFailed},
       .limits = {.wall_ms_max = 5'000}},
  };
}

std::vector<HostileCase> Vandals() {
  return {
      {.name = "OverwritesItsOwnMemory",
       .code = "import ctypes\nctypes.memset(id(None), 0, 16)\nprint(None)\n",
       .statuses = {kFailed, kCompleted, kTimedOut},
       .limits = kShort},
      {.name = "VandalisesItsInterpreter",
       .code = R"(
import builtins, sys, os
builtins.print = builtins.repr = builtins.len = None
sys.stdout = sys.stderr = sys.excepthook = None
sys.modules.clear()
os.__dict__.clear()
)",
       .statuses = {kFailed, kCompleted}},
      {.name = "ReprThatRaises",
       .code = "class C:\n    def __repr__(self): raise SystemExit(3)\nC()\n",
       .statuses = {kFailed, kCompleted}},
      {.name = "ReprThatNeverEnds",
       .code = "class C:\n    def __repr__(self):\n        while True: pass\nC()\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "ReprBomb",
       .code = "x = []\nfor _ in range(40): x = [x] * 20\nx\n",
       .statuses = {kTimedOut, kFailed, kLimitExceeded, kCompleted},
       .limits = {.wall_ms_max = 1'000}},
      {.name = "ValueThatHoldsItself",
       .code = "a = []\na.append(a)\na\n",
       .statuses = {kCompleted}},
      {.name = "HugeValue",
       .code = "'x' * 50_000_000\n",
       .statuses = {kCompleted, kFailed, kLimitExceeded}},
      {.name = "AMillionVariables",
       .code = "for i in range(300000): globals()['v%d' % i] = 1\n",
       .statuses = {kCompleted, kFailed, kLimitExceeded}},
  };
}

std::vector<HostileCase> Processes() {
  return {
      {.name = "LeavesADaemon",
       .code = R"(
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            os.write(1, b"still alive\n")
            time.sleep(0.01)
    os._exit(0)
print("left")
)",
       .statuses = {kCompleted},
       .stdout_has = "left"},
      {.name = "LeavesAChildThatHoldsTheOutputs",
       .code = "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\nprint('left')\n",
       .statuses = {kCompleted},
       .stdout_has = "left"},
      {.name = "ForkBomb",
       .code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
       .statuses = {kTimedOut},
       .limits = kShort},
      {.name = "ForkBombThatEnds",
       .code = R"(
import os, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(1000)
        n += 1
except OSError as error:
    print("stopped", n <= 64, error.errno)
)",
       .statuses = {kCompleted},
       .stdout_has = "stopped True 11"},
      {.name = "ThreadBomb",
       .code = R"(
import threading, time
try:
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError:
    print("stopped")
)",
       .statuses = {kCompleted, kTimedOut},
       .stdout_has = "stopped"},
  };
}

std::vector<HostileCase> Relatives() {
  return {
      {.name = "SignalsEverybody",
       .code = R"(
import os, signal
for number in (signal.SIGTERM, signal.SIGKILL):
    for target in (-1, 1, os.getppid()):
        try:
            os.kill(target, number) if number == signal.SIGKILL else None
        except OSError:
            pass
print("alone")
)",
       .statuses = {kCompleted},
       .stdout_has = "alone"},
      {.name = "ForkedChildReturnsToTheRuntime",
       .code = "import os\nchild = os.fork()\nprint('twice' if child else 'child')\n",
       .statuses = {kCompleted, kFailed},
       .stdout_has = "twice"},
      {.name = "ForkedChildRaises",
       .code =
           "import os\nif os.fork() == 0:\n    raise KeyError('child')\nos.wait()\nprint('ok')\n",
       .statuses = {kCompleted},
       .stdout_has = "ok"},
  };
}

std::vector<HostileCase> Memory() {
  const std::vector<ExecutionStatus> ends = {kFailed, kLimitExceeded};
  constexpr ExecutionLimits kSmall = {.wall_ms_max = 10'000, .memory_bytes_max = 64ull << 20};
  return {
      {.name = "MemoryByHeap",
       .code = "held = []\nwhile True: held.append(bytearray(1 << 20))\n",
       .statuses = ends,
       .limit_hit = "memory",
       .limits = kSmall},
      {.name = "MemoryByOneObject",
       .code = "x = bytearray(1 << 33)\n",
       .statuses = ends,
       .limits = kSmall},
      {.name = "MemoryByMapping",
       .code = R"(
import mmap
held = []
while True:
    held.append(mmap.mmap(-1, 1 << 20))
    held[-1].write(b"x" * (1 << 20))
)",
       .statuses = ends,
       .limit_hit = "memory",
       .limits = kSmall},
      {.name = "MemoryBySharedMemory",
       .code = R"(
import os
fd = os.open("/dev/shm/a", os.O_CREAT | os.O_RDWR)
while True:
    os.write(fd, b"x" * (1 << 20))
)",
       .statuses = ends,
       .limits = kSmall},
      {.name = "MemoryByTmpfs",
       .code = R"(
for folder in ("/tmp", "/work", "/dev/shm"):
    for n in range(60):
        open("%s/%d" % (folder, n), "wb").write(b"x" * (1 << 20))
)",
       .statuses = ends,
       .limit_hit = "memory",
       .limits = kSmall},
      {.name = "MemoryByMemfd",
       .code = R"(
import os
while True:
    fd = os.memfd_create("m")
    for _ in range(8):
        os.write(fd, b"x" * (1 << 20))
)",
       .statuses = ends,
       .limit_hit = "memory",
       .limits = kSmall},
      {.name = "MemoryByChildren",
       .code = R"(
import os, time
for _ in range(16):
    if os.fork() == 0:
        block = b"x" * (16 << 20)
        time.sleep(5)
        os._exit(0)
time.sleep(3)
)",
       .statuses = {kFailed, kLimitExceeded, kCompleted},
       .limit_hit = "memory",
       .limits = kSmall},
  };
}

std::vector<HostileCase> Disk() {
  return {
      {.name = "FillsTheDisk",
       .code = "f = open('/tmp/big', 'wb', 0)\nwhile True: assert f.write(b'x' * (1 << 20)) == 1 "
               "<< 20\n",
       .statuses = {kFailed},
       .limits = {.wall_ms_max = 10'000, .memory_bytes_max = 256ull << 20}},
      {.name = "FillsTheInodes",
       .code = "n = 0\nwhile True:\n    open('/tmp/%d' % n, 'w').close()\n    n += 1\n",
       .statuses = {kFailed},
       .limits = {.wall_ms_max = 10'000}},
      {.name = "NestsFolders",
       .code = "import os\nwhile True:\n    os.mkdir('d')\n    os.chdir('d')\n",
       // No inodes are left, or no time: Landlock walks up the whole depth at every step.
       .statuses = {kFailed, kTimedOut},
       .limits = {.wall_ms_max = 10'000}},
  };
}

std::vector<HostileCase> Output() {
  constexpr ExecutionLimits kFlood = {.wall_ms_max = 10'000, .output_chars_max = 65'536};
  return {
      {.name = "FloodsStdout",
       .code = "import os\nwhile True: os.write(1, b'x' * 65536)\n",
       .statuses = {kLimitExceeded},
       .limit_hit = "output",
       .limits = kFlood},
      {.name = "FloodsStderr",
       .code = "import os\nwhile True: os.write(2, b'x' * 65536)\n",
       .statuses = {kLimitExceeded},
       .limit_hit = "output",
       .limits = kFlood},
      {.name = "FloodsBoth",
       .code =
           "import os\nwhile True:\n    os.write(1, b'o' * 65536)\n    os.write(2, b'e' * 65536)\n",
       .statuses = {kLimitExceeded},
       .limit_hit = "output",
       .limits = kFlood},
      {.name = "FloodsFromChildren",
       .code = "import os\nos.fork()\nos.fork()\nwhile True: os.write(1, b'x' * 65536)\n",
       .statuses = {kLimitExceeded},
       .limit_hit = "output",
       .limits = kFlood},
      {.name = "WritesMoreThanIsKept",
       .code = "print('x' * 200000)\nprint('the end')\n",
       .statuses = {kCompleted},
       .stdout_has = "[Output truncated]",
       .limits = kFlood},
      {.name = "WritesWhatIsNoText",
       .code = "import os\nos.write(1, bytes(range(256)) * 16 + b'\\xf0\\x9f')\n",
       .statuses = {kCompleted}},
      {.name = "PrintsALoneSurrogate", .code = "print('\\ud800')\n", .statuses = {kFailed}},
      {.name = "RaisesALoneSurrogate",
       .code = "raise ValueError('\\ud800\\0\\uffff')\n",
       .statuses = {kFailed}},
      {.name = "ManyRefusedCalls",
       .code =
           "import ctypes\nc = ctypes.CDLL(None)\nfor _ in range(200000): c.unshare(0x10000000)\n",
       .statuses = {kCompleted, kLimitExceeded}},
  };
}

void Append(std::vector<HostileCase>& all, const std::vector<HostileCase>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

const std::vector<HostileCase>& HostileCases() {
  static const std::vector<HostileCase> cases = [] {
    std::vector<HostileCase> all;
    Append(all, ForgedFrames());
    Append(all, Descriptors());
    Append(all, Deaf());
    Append(all, Ends());
    Append(all, Vandals());
    Append(all, Processes());
    Append(all, Relatives());
    Append(all, Memory());
    Append(all, Disk());
    Append(all, Output());
    return all;
  }();
  return cases;
}

const std::vector<HostileCase>& DeadlineCases() {
  constexpr ExecutionLimits kDeadline = {.wall_ms_max = 250};
  static const std::vector<HostileCase> cases = {
      {.name = "DeafSpin",
       .code =
           "import signal\nsignal.pthread_sigmask(0, signal.valid_signals())\nwhile True: pass\n",
       .statuses = {kTimedOut},
       .limits = kDeadline},
      {.name = "SpinInC", .code = "7 ** (10 ** 9)\n", .statuses = {kTimedOut}, .limits = kDeadline},
      {.name = "Sleep",
       .code = "import time\ntime.sleep(1000)\n",
       .statuses = {kTimedOut},
       .limits = kDeadline},
      {.name = "ForkBomb",
       .code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
       .statuses = {kTimedOut},
       .limits = kDeadline},
      {.name = "Flood",
       .code =
           "import os\nwhile True:\n    os.write(1, b'o' * 65536)\n    os.write(2, b'e' * 65536)\n",
       .statuses = {kTimedOut, kLimitExceeded},
       .limits = kDeadline},
  };
  return cases;
}

}  // namespace glovebox::isolation

// Two live boxes of one executor against each other. Each attack must work without walls.
#include "audit/program.h"
#include "audit/wall_seam.h"
#include "audit/witness.h"
#include "isolation_fixture.h"

namespace glovebox::isolation {
namespace {

using sandbox::Walls;
using sandbox::WallSeamForAttribution;

// One box holds something; the other tries to get at it. Both find `tag`, `secret` (only the
// holder) and `peer` (only the attacker: the holder's process number).
struct Attack {
  std::string name;
  std::string hold;
  std::string attack;

  friend void PrintTo(const Attack& row, std::ostream* stream) { *stream << row.name; }
};

std::vector<Attack> ByFileOrSocket() {
  return {
      {"FileInTmp", "open('/tmp/' + tag, 'w').write(secret)", "print(open('/tmp/' + tag).read())"},
      {"FileInShm", "open('/dev/shm/' + tag, 'w').write(secret)",
       "print(open('/dev/shm/' + tag).read())"},
      {"SharedMemory",
       "from multiprocessing import shared_memory\n"
       "block = shared_memory.SharedMemory(tag, create=True, size=64)\n"
       "block.buf[:len(secret)] = secret.encode()",
       "from multiprocessing import shared_memory\n"
       "block = shared_memory.SharedMemory(tag)\nprint(bytes(block.buf[:64]))"},
      {"AbstractSocket",
       "import socket, threading\n"
       "server = socket.socket(socket.AF_UNIX)\n"
       "server.bind('\\0' + tag)\nserver.listen()\n"
       "threading.Thread(target=lambda: server.accept()[0].send(secret.encode()), daemon=True)"
       ".start()",
       "import socket\nclient = socket.socket(socket.AF_UNIX)\nclient.settimeout(1)\n"
       "client.connect('\\0' + tag)\nprint(client.recv(64))"},
      {"DatagramPair",
       "import socket, threading\n"
       "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
       "c = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]\nc.bind('\\0' + tag)\n"
       "_libc.connect(c.fileno(), bytes(16), 16)\n"
       "def serve():\n    c.recvfrom(64)\n    report(secret)\n"
       "threading.Thread(target=serve, daemon=True).start()",
       "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
       "a.connect('\\0' + tag)\na.send(b'hello')\ntime.sleep(0.1)"},
      {"Loopback",
       "import socket, threading\nserver = socket.socket()\nserver.bind(('127.0.0.1', 45678))\n"
       "server.listen()\n"
       "threading.Thread(target=lambda: server.accept()[0].send(secret.encode()), daemon=True)"
       ".start()",
       "import socket\nclient = socket.create_connection(('127.0.0.1', 45678), 1)\n"
       "print(client.recv(64))"},
  };
}

std::vector<Attack> ByKernelObject() {
  return {
      {"SystemVSegment",
       "_libc.shmat.restype = ctypes.c_void_p\n"
       "segment = _libc.shmget(int(tag[:7], 16), ctypes.c_size_t(4096), 0o1666)\n"
       "ctypes.memmove(_libc.shmat(segment, None, 0), secret.encode(), len(secret))",
       "_libc.shmat.restype = ctypes.c_void_p\n"
       "segment = _libc.shmget(int(tag[:7], 16), ctypes.c_size_t(0), 0)\n"
       "if segment >= 0:\n    print(ctypes.string_at(_libc.shmat(segment, None, 0), 64))\n"
       "    _libc.shmctl(segment, 0, None)"},
      {"SystemVQueue",
       "queue = _libc.msgget(int(tag[:7], 16), 0o1666)\n"
       "_libc.msgsnd(queue, struct.pack('<q', 1) + secret.encode(), ctypes.c_size_t(len(secret)), "
       "0)",
       "queue = _libc.msgget(int(tag[:7], 16), 0)\nbuffer = ctypes.create_string_buffer(128)\n"
       "if queue >= 0:\n    _libc.msgrcv(queue, buffer, ctypes.c_size_t(64), 0, 0o4000)\n"
       "    print(buffer.raw)\n    _libc.msgctl(queue, 0, None)"},
      {"PosixQueue",
       "queue = call('mq_open', tag.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)\n"
       "call('mq_timedsend', queue, secret.encode(), len(secret), 0, None)",
       "queue = call('mq_open', tag.encode(), os.O_RDONLY | os.O_NONBLOCK, 0, None)\n"
       "buffer = ctypes.create_string_buffer(65536)\n"
       "print(queue, call(243, queue, buffer, 65536, None, None), buffer.value)"},
  };
}

std::vector<Attack> ByProcess() {
  return {
      {"Signal", "signal.signal(signal.SIGWINCH, lambda *_: report(secret))",
       "for pid in {peer, *range(3, 400)} - {os.getpid()}:\n"
       "    try:\n        os.kill(pid, signal.SIGWINCH)\n    except OSError:\n        pass\n"
       "time.sleep(0.1)"},
      {"SignalToEveryone", "signal.signal(signal.SIGWINCH, lambda *_: report(secret))",
       "os.kill(-1, signal.SIGWINCH)\ntime.sleep(0.1)"},
      {"NamesInProc", "call('prctl', 15, secret[:15].encode(), 0, 0, 0)",
       "for pid in os.listdir('/proc'):\n"
       "    if pid.isdigit():\n        print(open('/proc/%s/comm' % pid).read())"},
      {"Memory", "kept = ctypes.create_string_buffer(secret.encode())",
       "import re\n"
       "if peer != os.getpid():\n"
       "    for line in open('/proc/%d/maps' % peer):\n"
       "        match = re.match('([0-9a-f]+)-([0-9a-f]+) rw', line)\n"
       "        if match:\n"
       "            start, end = (int(part, 16) for part in match.groups())\n"
       "            with open('/proc/%d/mem' % peer, 'rb', 0) as memory:\n"
       "                memory.seek(start)\n"
       "                text = memory.read(min(end - start, 1 << 24))\n"
       "                print(set(re.findall(b'S[0-9a-f]{14}', text)))"},
      {"Debugger", "kept = secret",
       "if peer != os.getpid() and call('ptrace', 0x4206, peer, 0, 0) == 0:\n    achieved()"},
      {"KeyInUserKeyring",
       "print(call('add_key', b'user', tag.encode(), secret.encode(), len(secret), -4))",
       "serial = call('keyctl', 10, -4, b'user', tag.encode(), 0)\n"
       "buffer = ctypes.create_string_buffer(256)\n"
       "if serial > 0:\n    call('keyctl', 11, serial, buffer, 255)\n"
       "    call('keyctl', 9, serial, -4)\nprint(serial, buffer.value)"},
  };
}

std::vector<Attack> BySharedFile() {
  return {
      {"FolderWatch",
       "import fcntl\nsignal.signal(signal.SIGIO, lambda *_: report(secret))\n"
       "folder = os.open(os.path.dirname(ctypes.__file__), os.O_RDONLY)\n"
       "fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)",
       "open(ctypes.__file__).read()\ntime.sleep(0.1)"},
      {"FolderWatchByInotify",
       "watcher = _libc.inotify_init1(0o4000)\n"
       "_libc.inotify_add_watch(watcher, os.path.dirname(ctypes.__file__).encode(), 1)\n"
       "def watch():\n    try:\n        os.read(watcher, 4096)\n        report(secret)\n"
       "    except OSError:\n        pass",
       "open(ctypes.__file__).read()\ntime.sleep(0.1)"},
      {"DeviceTimes",
       "os.utime('/dev/full', (1234, 1234)) if os.getuid() == 0 else os.utime('/dev/full')\n"
       "before = os.stat('/dev/full').st_mtime_ns\n"
       "watch = lambda: os.stat('/dev/full').st_mtime_ns != before and report(secret)",
       "os.utime('/dev/full')\ntime.sleep(0.1)"},
      {"Priority", "watch = lambda: os.getpriority(os.PRIO_PROCESS, 0) == 3 and report(secret)",
       "if peer != os.getpid():\n    os.setpriority(os.PRIO_PROCESS, peer, 3)\n"
       "    time.sleep(0.1)"},
  };
}

std::vector<Attack> Attacks() {
  std::vector<Attack> all;
  for (const std::vector<Attack>& some :
       {ByFileOrSocket(), ByKernelObject(), ByProcess(), BySharedFile()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

constexpr char kHolderHead[] = R"(
import signal
def report(text):
    os.write(1, ("GOT " + text + "\n").encode())
watch = lambda: None
)";
constexpr char kHolderTail[] = R"(
os.write(1, b"ready %d\n" % os.getpid())
while True:
    time.sleep(0.01)
    watch()
)";

class Watcher : public ExecutionObserver {
 public:
  void OnStdout(std::string_view bytes) override { text += bytes; }
  std::string text;
};

class NeighboursTest : public IsolationTest, public testing::WithParamInterface<Attack> {
 protected:
  // What the attacker got, in words; empty when nothing.
  std::string TryAttack(Walls walls) {
    const std::string secret = "S" + RandomHex(14);
    const std::string nonce = "N" + RandomHex(20);
    const std::string tag = "7" + RandomHex(11);
    Executor* executor = Runner().ExecutorFor(walls);
    if (executor == nullptr) return "no executor: " + Runner().problem();
    Watcher holder;
    std::optional<Outcome> holder_end;
    ExecutionRequest hold;
    hold.code = std::string(RawPrelude()) + kHolderHead + GetParam().hold + kHolderTail;
    hold.globals = {{"tag", wire::Value{tag}}, {"secret", wire::Value{secret}}};
    const std::shared_ptr<Execution> held = executor->Start(
        std::move(hold), &holder, [&](Outcome outcome) { holder_end = std::move(outcome); });
    Runner().RunUntil([&] { return Contains(holder.text, "ready") || holder_end; }, 5'000);
    std::string got;
    if (Contains(holder.text, "ready")) {
      const std::size_t at = holder.text.find("ready ") + 6;
      got = Attacked(walls, tag, nonce, secret, std::stoll(holder.text.substr(at)));
    }
    // A holder that was refused its own part holds nothing: the attack has failed before it began.
    held->Cancel();
    Runner().RunUntil([&] { return holder_end.has_value(); }, 5'000);
    if (Contains(holder.text, "GOT " + secret)) got += " the holder was reached";
    if (holder_end && holder_end->status == ExecutionStatus::kSetupFailed) {
      got += " " + Summary(*holder_end);
    }
    return got;
  }

 private:
  static bool Contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::string Attacked(Walls walls, const std::string& tag, const std::string& nonce,
                       const std::string& secret, std::int64_t peer) {
    ExecutionRequest attack;
    attack.code = std::string(RawPrelude()) + "import signal\n" + GetParam().attack;
    attack.globals = {
        {"tag", wire::Value{tag}}, {"nonce", wire::Value{nonce}}, {"peer", wire::Value{peer}}};
    attack.limits.wall_ms_max = 5'000;
    const Outcome outcome = Runner().Run(walls, std::move(attack));
    last_ = Summary(outcome);
    if (outcome.status == ExecutionStatus::kSetupFailed) return Summary(outcome);
    if (AppearsIn(outcome, secret)) return "the secret came over: " + Summary(outcome);
    if (AppearsIn(outcome, nonce)) return "it says so: " + Summary(outcome);
    return {};
  }

 protected:
  std::string last_;
};

TEST_P(NeighboursTest, LiveBoxesDoNotTouch) {
  EXPECT_NE(TryAttack(WallSeamForAttribution::Only(0)), "") << "vacuous: " << last_;
  EXPECT_EQ(TryAttack(Walls::All()), "");
  EXPECT_EQ(TryAttack(WallSeamForAttribution::AllBut(sandbox::Bit(sandbox::Wall::kInterpreter))),
            "");
}

INSTANTIATE_TEST_SUITE_P(Boxes, NeighboursTest, testing::ValuesIn(Attacks()),
                         [](const auto& row) { return row.param.name; });

TEST_F(IsolationTest, BoxesDoNotShareRandomness) {
  std::set<std::string> seen;
  constexpr int kBoxes = 8;
  for (int i = 0; i < kBoxes; ++i) {
    ExecutionRequest request;
    request.code =
        "import random, uuid, os, tempfile\n"
        "print(random.random(), random.SystemRandom().random(), uuid.uuid4(), "
        "os.urandom(8).hex(), next(tempfile._get_candidate_names()))\n";
    const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
    std::stringstream words(outcome.stdout_stream.text);
    for (std::string word; words >> word;) {
      EXPECT_TRUE(seen.insert(word).second) << word << " came twice";
    }
  }
  EXPECT_EQ(seen.size(), 5u * kBoxes);
}

}  // namespace
}  // namespace glovebox::isolation

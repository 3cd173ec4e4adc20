// What a box is told about the world, and what the world sees of a box.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "audit/witness.h"
#include "isolation_fixture.h"
#include "leftover.h"

namespace glovebox::isolation {
namespace {

using sandbox::Walls;

constexpr int kInheritedFd = 200;

// Everything here is about the box that product paths make: all walls, a runner of its own, whose
// zygote is started after the secret was laid out.
class BoxFactsTest : public IsolationTest {
 protected:
  void SetUp() override {
    IsolationTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Runner().Clear();
    secret_ = "L" + RandomHex(20);
    setenv("GLOVEBOX_LEAK", secret_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    const int file = memfd_create("leak", MFD_CLOEXEC);
    ASSERT_EQ(write(file, secret_.data(), secret_.size()), static_cast<ssize_t>(secret_.size()));
    ASSERT_EQ(dup2(file, kInheritedFd), kInheritedFd);  // crosses exec on purpose
    close(file);
  }
  void TearDown() override {
    close(kInheritedFd);
    unsetenv("GLOVEBOX_LEAK");  // NOLINT(concurrency-mt-unsafe): one thread
  }

  Outcome RunCode(const std::string& code) {
    ExecutionRequest request;
    request.code = code;
    return Runner().Run(Walls::All(), std::move(request));
  }

  void ExpectPrints(const std::string& code, const std::string& text) {
    const Outcome outcome = RunCode(code);
    EXPECT_EQ(outcome.stdout_stream.text, text) << Summary(outcome);
  }

  std::string secret_;
};

TEST_F(BoxFactsTest, NoDescriptorOfTheServerIsInherited) {
  const Outcome outcome = RunCode(R"(
import os, stat
for fd in range(1024):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISBLK(mode):
        print("BAD", fd, os.readlink("/proc/self/fd/%d" % fd))
        try:
            print(os.pread(fd, 4096, 0))
        except OSError:
            pass
print("scanned")
)");
  EXPECT_FALSE(AppearsIn(outcome, secret_)) << Summary(outcome);
  EXPECT_EQ(outcome.stdout_stream.text, "scanned\n") << Summary(outcome);
}

TEST_F(BoxFactsTest, MergedOutputKeepsTheOrder) {
  ExecutionRequest request;
  request.code = "import sys\nfor i in range(3):\n    print(i)\n    print(i, file=sys.stderr)\n";
  request.output = OutputMode::kMerged;
  const Outcome outcome = Runner().Run(Walls::All(), std::move(request));
  EXPECT_EQ(outcome.stdout_stream.text, "0\n0\n1\n1\n2\n2\n");
  EXPECT_EQ(outcome.stderr_stream.text, "");
}

TEST_F(BoxFactsTest, NoEnvironmentOfTheServerIsInherited) {
  const Outcome outcome = RunCode(R"(
import ctypes, os
print(sorted(os.environ))
for pid in ("1", "2", "self"):
    try:
        print(open("/proc/%s/environ" % pid, "rb").read())
    except OSError as error:
        print(error)
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
n = 0
while environ[n]:
    print(environ[n])
    n += 1
)");
  EXPECT_FALSE(AppearsIn(outcome, secret_)) << Summary(outcome);
  EXPECT_FALSE(AppearsIn(outcome, "GLOVEBOX")) << Summary(outcome);
  EXPECT_NE(outcome.stdout_stream.text.find("'HOME'"), std::string::npos) << Summary(outcome);
}

TEST_F(BoxFactsTest, TheBoxHoldsNoPrivilege) {
  ExpectPrints(R"(
fields = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines())
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Groups"):
    print(name, fields[name].strip())
import os
print(os.getresuid(), os.getresgid(), os.getpid())
)",
               "CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\n"
               "CapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2\n"
               "Groups \n(1000, 1000, 1000) (1000, 1000, 1000) 2\n");
}

TEST_F(BoxFactsTest, OnlyThreeFoldersCanBeWritten) {
  ExpectPrints(R"(
import os, sys
folders = {"/", "/dev", "/etc", "/lib", "/lib64", "/proc", "/proc/self", "/usr", "/usr/lib",
           "/usr/share", "/usr/share/zoneinfo", "/var", "/run", "/root", "/srv", "/work", "/tmp",
           "/dev/shm", *sys.path}
folders |= {line.split()[4] for line in open("/proc/self/mountinfo")}
for folder in sorted(folders):
    try:
        os.close(os.open(folder + "/probe", os.O_CREAT | os.O_WRONLY, 0o600))
        print(folder)
    except OSError:
        pass
    try:
        os.utime(folder) if folder not in ("/tmp", "/work", "/dev/shm") else 0/0
        print("TOUCHED", folder)
    except (OSError, ZeroDivisionError):
        pass
)",
               "/dev/shm\n/tmp\n/work\n");
}

TEST_F(BoxFactsTest, WritableMountsAreNosuidNodevNoexec) {
  ExpectPrints(R"(
for line in open("/proc/self/mountinfo"):
    words = line.split()
    options = set(words[5].split(","))
    if "shared:" in line or "master:" in line:
        print("PROPAGATES", line)
    if "rw" in options and not words[4].startswith(("/proc", "/dev/null", "/dev/zero", "/dev/full",
                                                    "/dev/random", "/dev/urandom")):
        print(words[4], sorted(options & {"nosuid", "nodev", "noexec"}))
    if "nosuid" not in options:
        print("SUID", line)
)",
               "/work ['nodev', 'noexec', 'nosuid']\n/tmp ['nodev', 'noexec', 'nosuid']\n"
               "/dev/shm ['nodev', 'noexec', 'nosuid']\n");
}

TEST_F(BoxFactsTest, TheHostIsNotNamed) {
  const Outcome outcome = RunCode(R"(
import os, socket
print(os.uname().nodename)
for path in ("/etc/hostname", "/etc/machine-id", "/proc/sys/kernel/random/boot_id",
             "/proc/kallsyms", "/proc/sys", "/sys", "/proc/cpuinfo", "/proc/meminfo", "/run",
             "/var", "/home", "/root", "/bin", "/usr/bin", "/etc/shadow", "/etc/resolv.conf"):
    if os.path.exists(path):
        print("SEEN", path)
)");
  EXPECT_EQ(outcome.stdout_stream.text.find("SEEN"), std::string::npos) << Summary(outcome);
  EXPECT_EQ(outcome.stdout_stream.text.find("cage"), std::string::npos) << Summary(outcome);
}

TEST_F(BoxFactsTest, OnlyItsOwnProcessesAreSeen) {
  ExpectPrints(R"(
import os
print(sorted(n for n in os.listdir("/proc") if n.isdigit()))
for path in ("/proc/1/root", "/proc/1/cwd", "/proc/1/exe", "/proc/1/fd"):
    try:
        os.listdir(path) if path.endswith("fd") else os.readlink(path)
        print("READ", path)
    except OSError:
        pass
)",
               "['2']\n");
}

TEST_F(BoxFactsTest, ThreadsMayHaveTheSmallestStacks) {
  ExpectPrints(R"(
import threading
threading.stack_size(32768)
thread = threading.Thread(target=print, args=("runs",))
thread.start()
thread.join()
)",
               "runs\n");
}

TEST_F(BoxFactsTest, FromOutsideEveryProcessHasAThrowAwayUid) {
  for (int i = 0; i < 200 && !BoxProcesses().empty(); ++i) usleep(10'000);  // of the last test
  const std::uint32_t tasks_before = CageTasks();
  ASSERT_EQ(RunCode("pass").status, ExecutionStatus::kCompleted);
  const std::set<std::string> zygote = BoxProcesses();
  EXPECT_FALSE(zygote.empty()) << "the zygote must not run as a user of the host";
  const std::size_t watcher_threads = 1;  // of the server itself
  EXPECT_EQ(CageTasks() - tasks_before, zygote.size() + watcher_threads)
      << "something of the engine runs under a uid of the host";
}

}  // namespace
}  // namespace glovebox::isolation

#include "audit/victim.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "audit/cage.h"
#include "base/file.h"

namespace glovebox::audit {
namespace {

constexpr int kPageFd = 78;
constexpr std::uintptr_t kPageAddress = 0x7e0000000000;  // where the victim maps its page
constexpr pid_t kPidMin = 600;  // above any number that a box gives to its own processes
constexpr rlim_t kDescriptorsMax = 1024;

VictimPage* victim_page = nullptr;

void CountSignal(int) { victim_page->signals = victim_page->signals + 1; }

VictimPage* MapPage(int fd, void* where, int flags) {
  void* page = mmap(where, sizeof(VictimPage), PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
  return page == MAP_FAILED ? nullptr : static_cast<VictimPage*>(page);
}

// Small numbers mean something else inside a box: burn them.
void AdvancePids() {
  for (pid_t pid = 0; pid < kPidMin;) {
    pid = fork();
    if (pid == 0) _exit(0);
    if (pid < 0) return;
    waitpid(pid, nullptr, 0);
  }
}

std::string StatusField(pid_t pid, const std::string& name) {
  const std::string text = FileText("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return {};
  const std::size_t start = text.find_first_not_of(" \t", at + name.size() + 2);
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace

bool IsVictim(int argc, char** argv) { return argc == 4 && std::strcmp(argv[1], kVictimFlag) == 0; }

int VictimMain(char** argv) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, argv[2]);
  if (chdir(argv[3]) != 0) return 2;
  const int held = memfd_create("held", MFD_CLOEXEC);
  if (write(held, argv[2], strlen(argv[2])) < 0 || dup3(held, kVictimFd, 0) < 0) return 2;
  // An address that the payloads are told. NOLINTNEXTLINE(performance-no-int-to-ptr)
  victim_page = MapPage(kPageFd, reinterpret_cast<void*>(kPageAddress), MAP_FIXED_NOREPLACE);
  if (victim_page == nullptr) return 2;
  static char secret[64];
  std::snprintf(secret, sizeof(secret), "%s", argv[2]);
  victim_page->secret_address = reinterpret_cast<std::uintptr_t>(secret);
  for (int number = 1; number < SIGRTMAX; ++number) {
    if (number != SIGSEGV && number != SIGBUS) std::signal(number, &CountSignal);
  }
  victim_page->ready = 1;
  while (true) pause();
}

Result<Victim> Victim::Start(const std::string& secret, const std::string& folder) {
  AdvancePids();
  const int fd = memfd_create("victim", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, sizeof(VictimPage)) != 0) return Error::FromErrno("memfd", errno);
  VictimPage* page = MapPage(fd, nullptr, 0);
  if (page == nullptr) return Error::FromErrno("mmap", errno);
  const pid_t pid = fork();
  if (pid < 0) return Error::FromErrno("fork", errno);
  if (pid == 0) {
    dup3(fd, kPageFd, 0);
    std::string environment = "VICTIM_SECRET=" + secret;
    std::string program = "/proc/self/exe", flag = kVictimFlag, name = secret, where = folder;
    char* const argv[] = {program.data(), flag.data(), name.data(), where.data(), nullptr};
    char* const envp[] = {environment.data(), nullptr};
    execve("/proc/self/exe", argv, envp);
    _exit(127);
  }
  close(fd);
  Victim victim(pid, page);
  victim.page_address_ = kPageAddress;
  for (int attempt = 0; attempt < 500; ++attempt) {
    if (static_cast<volatile VictimPage*>(page)->ready == 1) return victim;
    usleep(10'000);
  }
  return Error(Errc::kInternal, "the victim process did not come up");
}

Victim::Victim(Victim&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      page_(std::exchange(other.page_, nullptr)),
      page_address_(other.page_address_) {}

Victim::~Victim() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  munmap(page_, sizeof(VictimPage));
}

void Victim::Reset() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(pid_), 0);
  const rlimit limit = {kDescriptorsMax, kDescriptorsMax};
  prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr);
  cpu_set_t every;
  memset(&every, 0xff, sizeof(every));
  sched_setaffinity(pid_, sizeof(every), &every);
  const Status reset = WriteExisting("/proc/" + std::to_string(pid_) + "/oom_score_adj", "0");
  static_cast<void>(reset);  // Harm() reports it
  page_->signals = 0;
  page_->scribble.fill(0);
}

std::optional<std::string> Victim::Harm() const {
  const volatile VictimPage* page = page_;
  if (waitpid(pid_, nullptr, WNOHANG) != 0) return "the victim died";
  if (page->signals != 0) return "the victim got a signal";
  if (*static_cast<const volatile char*>(page_->scribble.data()) != 0)
    return "the victim's memory changed";
  if (StatusField(pid_, "TracerPid") != "0") return "the victim is being debugged";
  errno = 0;
  if (getpriority(PRIO_PROCESS, static_cast<id_t>(pid_)) != 0)
    return "the victim's priority changed";
  rlimit limit = {};
  prlimit(pid_, RLIMIT_NOFILE, nullptr, &limit);
  if (limit.rlim_cur != kDescriptorsMax) return "the victim's limits changed";
  cpu_set_t ours;
  cpu_set_t theirs;
  sched_getaffinity(0, sizeof(ours), &ours);
  sched_getaffinity(pid_, sizeof(theirs), &theirs);
  if (!CPU_EQUAL(&ours, &theirs)) return "the victim's processors changed";
  if (FileText("/proc/" + std::to_string(pid_) + "/oom_score_adj") != "0\n") {
    return "the victim's oom score changed";
  }
  return std::nullopt;
}

}  // namespace glovebox::audit

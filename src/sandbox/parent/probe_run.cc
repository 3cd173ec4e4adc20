#include "sandbox/parent/probe_run.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "sandbox/child/probe_child.h"

namespace glovebox::sandbox {
namespace {

bool AwaitReadable(int fd) {
  pollfd waiting = {fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, kProbeTimeMaxMs);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

}  // namespace

Result<ProbePipe> MakeProbePipe() {
  std::array<int, 2> fds;
  if (::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK) != 0) return Error::FromErrno("pipe", errno);
  return ProbePipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void RunProbeChild(const void* plan) { ProbeChild(*static_cast<const ProbePlan*>(plan)); }

std::optional<ChildFailure> ReadProbeRecord(int fd) {
  ChildFailure record;
  if (::read(fd, &record, sizeof(record)) != sizeof(record)) return std::nullopt;
  return record;
}

Status ToStatus(const ChildFailure& failure) {
  if (failure.sys_errno != 0) return Error::FromErrno(StageName(failure.stage), failure.sys_errno);
  return Error(Errc::kUnsupported,
               StageName(failure.stage) + ": was accepted, and holds nothing back");
}

Status ProbeEnding(const Process& process, const ProbePipe& report) {
  if (!AwaitReadable(process.pidfd())) {
    return Error(Errc::kSystem, "the probe did not end within 2 seconds");
  }
  if (const auto failure = ReadProbeRecord(report.read.get())) return ToStatus(*failure);
  siginfo_t info = {};
  const bool known =
      ::waitid(P_PID, static_cast<id_t>(process.pid()), &info, WEXITED | WNOWAIT) == 0;
  if (known && info.si_code == CLD_EXITED && info.si_status == 0) return {};
  return Error(Errc::kSystem, "the probe was killed (" + std::to_string(info.si_status) + ")");
}

Status ProbeInUserNamespace(std::uint64_t namespaces, const ProbeIds& ids, ProbePlan plan) {
  const ProbePipe report = TRY(MakeProbePipe());
  ProbePipe ready = TRY(MakeProbePipe());
  ::fcntl(ready.read.get(), F_SETFL, 0);
  plan.report_fd = report.write.get();
  plan.parent_ready_fd = ready.read.get();
  plan.switch_identity = ids.count > 1;
  const Process process =
      TRY(CloneChild(CLONE_NEWUSER | namespaces, ready.write.get(), &RunProbeChild, &plan));
  TRY(WriteIdMaps(process.pid(), ids.uid_base, ids.gid_base, ids.count));
  if (::write(ready.write.get(), "1", 1) != 1) return Error::FromErrno("telling the probe", errno);
  return ProbeEnding(process, report);
}

Status ProbeWithoutUserNamespace(std::uint64_t namespaces, ProbePlan plan) {
  const ProbePipe report = TRY(MakeProbePipe());
  plan.report_fd = report.write.get();
  const Process process = TRY(CloneChild(namespaces, -1, &RunProbeChild, &plan));
  return ProbeEnding(process, report);
}

}  // namespace glovebox::sandbox

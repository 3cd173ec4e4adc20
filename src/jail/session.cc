#include "jail/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <utility>

#include "base/text.h"
#include "jail/run.h"
#include "policy/jail_policy.h"

namespace glovebox::jail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kQueueMax = 256u << 10;  // then nothing more is read for it
constexpr std::size_t kTailBytes = 2'048;
// Clients wait about two seconds between asking and killing; everything is gone by then.
constexpr auto kGrace = milliseconds(1'500);
constexpr auto kSilence = milliseconds(2'000);  // after the client's end of input
constexpr auto kUndecided = milliseconds(200);  // for a client to say its first word
constexpr auto kDrain = milliseconds(2'000);    // for a slow reader of the last output
constexpr auto kMeterInterval = milliseconds(20);
constexpr int kShortLifeMaxMs = 200;  // until the init of a program that is over has ended, too

Relay::ReasonsSince ReasonsOf(const std::shared_ptr<RefusalLog>& refusals) {
  return [refusals](Relay::Clock::time_point since) {
    std::vector<std::string> texts;
    for (const Refusal& refusal : refusals->Since(since)) texts.push_back(refusal.Text());
    return texts;
  };
}

bool IsReadable(int fd) {
  pollfd watched = {fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

}  // namespace

Session::Session(RunningBox box, SessionOptions options, std::shared_ptr<RefusalLog> refusals,
                 const std::optional<sandbox::CgroupSlot>& cgroup, bool metered,
                 egress::Proxy* proxy)
    : box_(std::move(box)),
      options_(std::move(options)),
      refusals_(refusals),
      cgroup_(cgroup),
      metered_(metered),
      proxy_(proxy),
      relay_(options_.relay, ReasonsOf(refusals)),
      server_in_(box_.input.get(), OutStream::Sharing::kOurs) {}

Status Session::Prepare() {
  for (const int fd : {box_.output.get(), box_.error.get(), box_.input.get()}) {
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return Error::FromErrno("preparing a pipe", errno);
  }
  if (options_.client > 1) {
    client_.reset(static_cast<int>(::syscall(SYS_pidfd_open, options_.client, 0)));
    client_gone_ = !client_;
  }
  if (metered_) {
    auto meter = sandbox::MemoryMeter::Open(box_.init.pidfd(), options_.tmpfs, box_.program.get());
    if (meter) {
      meter_.emplace(std::move(*meter));
    } else {
      // Fails closed, but not for a program that has ended before it could be looked at.
      pollfd ended = {box_.init.pidfd(), POLLIN, 0};
      if (::poll(&ended, 1, kShortLifeMaxMs) != 1) return std::move(meter).error();
    }
  }
  struct stat input = {};
  // Nobody will ever speak on these: what the program writes is passed on at once.
  if (::fstat(0, &input) == 0 && !S_ISFIFO(input.st_mode) && !S_ISSOCK(input.st_mode)) {
    relay_.DecidePlain();
  }
  return {};
}

Result<int> Session::Run(int signal_fd) {
  TRY(Prepare());
  if (!box_.runtime.empty()) {
    if (!options_.quiet)
      Say("in a container of " + box_.runtime + ": what is refused has no names");
  } else if (!box_.observed) {
    Say("somebody else supervises this process: what is refused here cannot be named");
  }
  while (!finished()) Turn(signal_fd);
  TakeRefusals();
  Flush();
  return ExitCode();
}

bool Session::finished() const {
  if (!end_) return false;
  const bool all_read = !box_.output && !box_.error;
  const bool all_written = relay_.to_client.empty() && relay_.to_stderr.empty();
  return (all_read && all_written) || client_gone_ || (drain_by_ && Clock::now() >= *drain_by_);
}

int Session::WaitMs() const {
  std::optional<Clock::time_point> next;
  const auto consider = [&](const std::optional<Clock::time_point>& when) {
    if (when && (!next || *when < *next)) next = when;
  };
  const auto after = [](Clock::time_point start, double seconds) {
    return start + milliseconds(std::llround(seconds * 1000));
  };
  if (!end_) {
    if (options_.timeout_seconds && !verdict_) consider(after(start_, *options_.timeout_seconds));
    if (options_.idle_seconds && !verdict_) consider(after(last_traffic_, *options_.idle_seconds));
    consider(kill_at_);
    consider(ask_at_);
    if (undecided_since_) consider(*undecided_since_ + kUndecided);
    if (meter_) consider(Clock::now() + kMeterInterval);
  }
  consider(drain_by_);
  if (!next) return -1;
  const auto left = std::chrono::duration_cast<milliseconds>(*next - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

void Session::Turn(int signal_fd) {
  enum {
    kSignal,
    kRefusals,
    kClient,
    kInput,
    kOutput,
    kError,
    kStatus,
    kToServer,
    kToClient,
    kToStderr,
    kProxy,
    kCount
  };
  std::array<pollfd, kCount> watched;
  const auto set = [&](int which, int fd, short events, bool wanted) {
    watched[static_cast<std::size_t>(which)] = {wanted ? fd : -1, events, 0};
  };
  const bool room = relay_.to_client.size() < kQueueMax && relay_.to_stderr.size() < kQueueMax;
  set(kSignal, signal_fd, POLLIN, true);
  set(kRefusals, refusals_->event_fd(), POLLIN, true);
  set(kClient, client_.get(), POLLIN, client_.valid() && !client_gone_);
  set(kInput, 0, POLLIN, input_open_ && !end_ && relay_.to_server.size() < kQueueMax);
  set(kOutput, box_.output.get(), POLLIN, box_.output.valid() && room);
  set(kError, box_.error.get(), POLLIN, box_.error.valid() && room);
  set(kStatus, box_.status.get(), POLLIN, !end_);
  set(kToServer, server_in_.fd(), POLLOUT, !relay_.to_server.empty() && box_.input.valid());
  set(kToClient, client_out_.fd(), POLLOUT, !relay_.to_client.empty());
  set(kToStderr, client_err_.fd(), POLLOUT, !relay_.to_stderr.empty());
  set(kProxy, proxy_ != nullptr ? proxy_->reports_fd() : -1, POLLIN, proxy_ != nullptr);
  if (::poll(watched.data(), watched.size(), WaitMs()) < 0) return;
  const auto ready = [&](int which) {
    return watched[static_cast<std::size_t>(which)].fd >= 0 &&
           watched[static_cast<std::size_t>(which)].revents != 0;
  };
  if (ready(kSignal)) TakeSignal(signal_fd);
  if (ready(kProxy)) TakeConnections();
  if (ready(kRefusals)) TakeRefusals();
  if (ready(kClient)) {
    client_gone_ = true;
    if (!end_) Kill();
  }
  if (ready(kInput)) TakeFromClient();
  if (ready(kOutput)) TakeOutput();
  if (ready(kError)) TakeError();
  if (ready(kStatus)) TakeEnd();
  CheckClocks();
  Flush();
}

void Session::TakeFromClient() {
  std::string bytes;
  const ssize_t got = ReadInto(0, bytes);
  if (got > 0) {
    last_traffic_ = Clock::now();
    relay_.FromClient(bytes);
    return;
  }
  if (got < 0 && errno == EAGAIN) return;
  input_open_ = false;
  relay_.DecidePlain();
  // A server whose client has gone has nothing to do; another program may have.
  if (relay_.speaks_mcp()) ask_at_ = Clock::now() + kSilence;
}

void Session::TakeOutput() {
  std::string bytes;
  const ssize_t got = ReadInto(box_.output.get(), bytes);
  if (got > 0) {
    last_traffic_ = Clock::now();
    relay_.FromServer(bytes);
    if (relay_.undecided() && !undecided_since_) undecided_since_ = Clock::now();
  } else if (got == 0) {
    box_.output.reset();
    relay_.ServerClosed();
  }
}

void Session::TakeError() {
  std::string bytes;
  const ssize_t got = ReadInto(box_.error.get(), bytes);
  if (got > 0) {
    relay_.to_stderr += bytes;
    error_tail_ += bytes;
    if (error_tail_.size() > kTailBytes) error_tail_.erase(0, error_tail_.size() - kTailBytes);
  } else if (got == 0) {
    box_.error.reset();
  }
}

ssize_t Session::ReadEnd(sandbox::JailEnd& end) const {
  if (box_.runtime.empty()) return ::read(box_.status.get(), &end, sizeof(end));
  siginfo_t info = {};
  if (::waitid(P_PIDFD, static_cast<id_t>(box_.status.get()), &info, WEXITED | WNOWAIT) != 0) {
    return -1;
  }
  end.wait_status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : info.si_status;
  return sizeof(end);
}

void Session::TakeEnd() {
  sandbox::JailEnd end = {};
  const ssize_t got = ReadEnd(end);
  if (got < 0 && errno == EINTR) return;
  // Without a word: its init was killed, by us or by the kernel.
  if (got != sizeof(end)) end.wait_status = SIGKILL;
  end.names[sizeof(end.names) - 1] = '\0';
  end_ = end;
  drain_by_ = Clock::now() + kDrain;
  // Everybody who could write is dead: what is there is all there is.
  while (box_.output && IsReadable(box_.output.get())) TakeOutput();
  while (box_.error && IsReadable(box_.error.get())) TakeError();
  if (box_.output) {
    box_.output.reset();
    relay_.ServerClosed();
  }
  box_.error.reset();
  TakeRefusals();
  if (end.left_behind > 0 && !verdict_ && got == sizeof(end)) {
    const std::string names = end.names;
    Say("ended " + std::to_string(end.left_behind) +
        (end.left_behind == 1 ? " process" : " processes") + " that the program left behind" +
        (names.empty() ? "" : ": " + names) + "; nothing outlives a jail");
  }
  relay_.AnswerForDead("The server ended: " + EndText() +
                       (error_tail_.empty() ? "." : ". Its last words:\n" + error_tail_));
}

void Session::TakeRefusals() {
  for (const Refusal& refusal : refusals_->TakeNew()) {
    if (!options_.quiet) Say("refused: " + refusal.Text());
  }
}

void Session::TakeConnections() {
  const egress::Proxy::Taken taken = proxy_->Take();
  for (const egress::ConnectionReport& report : taken.connections) {
    if (report.allowed) continue;
    Refusal refusal;
    refusal.act = "connect to";
    refusal.target = report.host + ":" + std::to_string(report.port);
    refusal.rule = report.reason;
    refusal.remedy = report.remedy.empty() ? "nothing allows it in a jail" : report.remedy;
    refusals_->Add(std::move(refusal));
  }
  if (!taken.failure) return;
  Say(taken.failure->message() + "; the program has no way out any more");
  proxy_ = nullptr;
}

void Session::Say(const std::string& sentence) {
  relay_.to_stderr += "glovebox: " + sentence + "\n";
}

void Session::Flush() {
  if (!relay_.to_client.empty() && !client_out_.Flush(relay_.to_client)) {
    relay_.to_client.clear();
    if (!end_ && !kill_at_) Ask(SIGTERM, "");
    if (!end_ && box_.output) box_.output.reset();  // as it would be without us
  }
  if (!relay_.to_stderr.empty() && !client_err_.Flush(relay_.to_stderr)) relay_.to_stderr.clear();
  if (!box_.input) return;
  if (!relay_.to_server.empty() && !server_in_.Flush(relay_.to_server)) {
    relay_.to_server.clear();
    box_.input.reset();
  }
  if (!input_open_ && relay_.to_server.empty()) box_.input.reset();
}

void Session::TakeSignal(int signal_fd) {
  signalfd_siginfo info = {};
  if (::read(signal_fd, &info, sizeof(info)) != sizeof(info)) return;
  const int signal = static_cast<int>(info.ssi_signo);
  if (signal == kKeeperDiedSignal) {
    client_gone_ = true;
    return Kill();
  }
  if (end_) return;
  ::syscall(SYS_pidfd_send_signal, box_.program.get(), signal, nullptr, 0);
  const bool asks_to_end =
      signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
  if (asks_to_end && !kill_at_) kill_at_ = Clock::now() + kGrace;
}

void Session::Ask(int signal, const std::string& why) {
  if (!why.empty()) Say(why);
  ::syscall(SYS_pidfd_send_signal, box_.program.get(), signal, nullptr, 0);
  if (!kill_at_) kill_at_ = Clock::now() + kGrace;
}

void Session::Kill() {
  // Of a container the runtime is but the door.
  if (!box_.runtime.empty() && cgroup_) cgroup_->KillAll();
  ::kill(box_.init.pid(), SIGKILL);
}

void Session::CheckClocks() {
  if (end_) return;
  const Clock::time_point now = Clock::now();
  const auto passed = [&](Clock::time_point since, const std::optional<double>& seconds) {
    return seconds && std::chrono::duration<double>(now - since).count() >= *seconds;
  };
  if (undecided_since_ && now >= *undecided_since_ + kUndecided) {
    undecided_since_.reset();
    relay_.DecidePlain();
  }
  if (!verdict_ && passed(start_, options_.timeout_seconds)) {
    verdict_ = kExitTimedOut;
    Ask(SIGTERM, "ended after " + policy::DurationText(*options_.timeout_seconds) + " (--timeout)");
  }
  if (!verdict_ && passed(last_traffic_, options_.idle_seconds)) {
    verdict_ = kExitTimedOut;
    Ask(SIGTERM, "ended after " + policy::DurationText(*options_.idle_seconds) +
                     " without a message (--idle)");
  }
  if (ask_at_ && now >= *ask_at_) {
    ask_at_.reset();
    Ask(SIGTERM, "");
  }
  if (kill_at_ && now >= *kill_at_) {
    kill_at_.reset();
    Kill();
  }
  CheckMemory();
}

void Session::CheckMemory() {
  if (!meter_ || verdict_ || options_.memory_bytes_max == 0) return;
  if (meter_->Measure(options_.memory_bytes_max) <= options_.memory_bytes_max) return;
  verdict_ = kExitLimit;
  Say("ended: the memory limit of " + SizeText(options_.memory_bytes_max) +
      " is reached; raise it with --memory");
  Kill();
}

std::string Session::EndText() const {
  if (!end_) return "";
  if (WIFEXITED(end_->wait_status)) {
    return "exit code " + std::to_string(WEXITSTATUS(end_->wait_status));
  }
  return "signal " + std::to_string(WTERMSIG(end_->wait_status));
}

int Session::ExitCode() {
  const bool killed = (WIFSIGNALED(end_->wait_status) && WTERMSIG(end_->wait_status) == SIGKILL) ||
                      (!box_.runtime.empty() && end_->wait_status != 0);
  if (cgroup_) {
    const sandbox::CgroupUsage usage = cgroup_->Usage();
    if (usage.oom_kills > 0) {
      Say("the memory limit of " + SizeText(options_.memory_bytes_max) +
          " was reached, and a process killed for it; raise it with --memory");
      if (killed) verdict_ = kExitLimit;
    }
    const bool failed = end_->wait_status != 0;
    if (usage.processes_refused > 0 && failed) {
      Say("a process or thread more than allowed was asked for; raise the limit with --pids");
    }
    Flush();
  }
  if (verdict_) return *verdict_;
  if (WIFEXITED(end_->wait_status)) return WEXITSTATUS(end_->wait_status);
  return 128 + WTERMSIG(end_->wait_status);
}

}  // namespace glovebox::jail

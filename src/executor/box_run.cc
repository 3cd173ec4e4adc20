#include "executor/box_run.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "python/wire/descriptor_passing.h"
#include "sandbox/parent/spawn.h"
#include "sandbox/parent/user_tasks.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 64u << 10;
constexpr auto kBirthTimeMax = std::chrono::seconds(10);  // a thousand times what it takes
// RLIMIT_DATA counts address space, not memory: room for thread stacks, which are mostly untouched.
constexpr std::uint64_t kDataSlackBytes = 512ull << 20;
// Where only looking holds the limit, less: what one process can take between two looks.
constexpr std::uint64_t kMeteredDataSlackBytes = 128ull << 20;
constexpr auto kMeterInterval = std::chrono::milliseconds(10);
constexpr auto kMeterIntervalNearLimit = std::chrono::milliseconds(2);
// The cgroup's limit is to be met first, because it counts its refusals and an rlimit does not.
constexpr std::uint32_t kProcessSlack = 8;

std::uint64_t RandomNumber() {
  std::uint64_t number = 0;
  CHECK(::getrandom(&number, sizeof(number), 0) == sizeof(number));
  return number;
}

wire::RunRequest MakeRunRequest(const ExecutionRequest& request, std::uint64_t nonce,
                                std::uint64_t data_slack_bytes) {
  wire::RunRequest run;
  run.nonce = nonce;
  run.merged_output = request.output == OutputMode::kMerged;
  run.data_bytes_max = request.limits.memory_bytes_max + data_slack_bytes;
  run.processes_max = request.limits.processes_max + kProcessSlack;
  if (request.limits.cpu_ms_max != 0) run.cpu_seconds_max = request.limits.cpu_ms_max / 1000 + 1;
  run.code = request.code;
  run.filename = request.filename;
  run.argv.push_back(request.argv0);
  run.argv.insert(run.argv.end(), request.arguments.begin(), request.arguments.end());
  run.environment = request.environment;
  run.globals = request.globals;
  run.action = request.action;
  run.language = request.language;
  return run;
}

}  // namespace

BoxRun::BoxRun(asio::io_context& context, ExecutionRequest request, ServerEnds channels,
               Means means, ExecutionObserver* observer, Handlers handlers)
    : context_(context),
      request_(std::move(request)),
      slot_(means.cgroup),
      watcher_(means.watcher),
      measured_tmpfs_(means.measured_tmpfs),
      shared_folder_(means.shared_folder),
      observer_(observer),
      handlers_(std::move(handlers)),
      nonce_(RandomNumber()),
      stdin_(context, channels.stdin_write.release()),
      stdout_(context, channels.stdout_read.release()),
      stderr_(context, channels.stderr_read.release()),
      gate_(context, channels.gate.release()),
      status_(context, channels.status_read.release()),
      pidfd_(context),
      oom_event_(context),
      input_(context),
      wall_timer_(context),
      cpu_timer_(context),
      memory_timer_(context),
      stdout_limiter_(request_.limits.output_chars_max),
      stderr_limiter_(request_.limits.output_chars_max) {}

void BoxRun::Begin() {
  wall_timer_.expires_after(kBirthTimeMax);
  wall_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->dead_ || self->report_.handed_over) return;
    self->Kill(KillReason::kBirth);
    self->Deliver();  // there may be nothing to kill yet
  });
}

void BoxRun::OnBorn(Result<UniqueFd> pidfd) {
  if (!pidfd) {
    report_.setup_error = std::move(pidfd).error();
    dead_ = true;
    Deliver();
    handlers_.gone();
    return;
  }
  pidfd_.assign(pidfd->release());
  WatchDeath();
  if (over()) {  // cancelled while being born, or too late
    EndBox();
    Deliver();
    return;
  }
  ReadGate();
  ReadStatus();
  ReadOutput(stdout_, stdout_limiter_);
  ReadOutput(stderr_, stderr_limiter_);
  WatchMemory();
}

void BoxRun::WatchDeath() {
  pidfd_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (!error && !self->dead_) self->OnDeath();
  });
}

// Everything is awaited first and read in the handler, never by the reactor: bytes that it had
// already taken, in a handler still queued, would be missing when another handler drains the pipes.
void BoxRun::ReadGate() {
  gate_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (error || self->dead_ || self->delivered_) return;
    const ssize_t got = self->ReadGateBytes();
    if (got > 0) self->TakeGateBytes({self->buffer_.data(), static_cast<std::size_t>(got)});
    const bool open = got > 0 || (got < 0 && errno == EAGAIN);
    if (open && !self->delivered_) self->ReadGate();
  });
}

ssize_t BoxRun::ReadSome(Descriptor& descriptor) {
  buffer_.resize(kReadBytes);
  return ::read(descriptor.native_handle(), buffer_.data(), buffer_.size());
}

// Until the request is inside, nothing untrusted has run: what comes is our own, and the filter's
// listener comes with it. Afterwards descriptors are not taken from the box.
ssize_t BoxRun::ReadGateBytes() {
  if (report_.handed_over) return ReadSome(gate_);
  wire::ReceivedMessage message;
  if (const int error = wire::ReceiveWithDescriptors(gate_.native_handle(), message); error != 0) {
    errno = error;
    return -1;
  }
  for (const int fd : message.fds) WatchCalls(UniqueFd(fd));
  buffer_.assign(message.payload.begin(), message.payload.end());
  return static_cast<ssize_t>(message.payload.size());
}

void BoxRun::WatchCalls(UniqueFd listener) {
  if (watcher_ == nullptr || calls_ != nullptr) return;
  calls_ = std::make_shared<sandbox::CallRecord>([this, weak = weak_from_this()] {
    asio::post(context_, [weak] {
      if (const auto self = weak.lock()) self->Kill(KillReason::kEvents);
    });
  });
  // Without a watcher the calls are still refused; only the record is missing.
  if (!watcher_->Watch(std::move(listener), calls_)) calls_ = nullptr;
}

void BoxRun::ReadStatus() {
  status_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (error || self->dead_) return;
    sandbox::StatusRecord record;
    const ssize_t got = ::read(self->status_.native_handle(), &record, sizeof(record));
    if (got == sizeof(record)) self->TakeStatus(record);
    if (got > 0 || (got < 0 && errno == EAGAIN)) self->ReadStatus();
  });
}

void BoxRun::ReadOutput(Descriptor& descriptor, OutputLimiter& limiter) {
  descriptor.async_wait(Descriptor::wait_read, [self = shared_from_this(), &descriptor,
                                                &limiter](const error_code& error) {
    if (error || self->dead_ || self->delivered_) return;
    const ssize_t got = self->ReadSome(descriptor);
    if (got > 0) {
      self->TakeOutput(limiter, {self->buffer_.data(), static_cast<std::size_t>(got)});
    }
    const bool open = got > 0 || (got < 0 && errno == EAGAIN);
    if (open && !self->delivered_) self->ReadOutput(descriptor, limiter);
  });
}

void BoxRun::WatchMemory() {
  if (slot_ == nullptr || slot_->oom_event_fd() < 0) return;
  if (!oom_event_.is_open()) oom_event_.assign(::fcntl(slot_->oom_event_fd(), F_DUPFD_CLOEXEC, 3));
  oom_event_.async_wait(
      Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
        if (error || self->dead_ || self->delivered_) return;
        std::uint64_t count = 0;
        const ssize_t got = ::read(self->oom_event_.native_handle(), &count, sizeof(count));
        if (got > 0 && self->slot_->Usage().oom_kills > 0) {
          self->Kill(KillReason::kMemory);
        } else {
          self->WatchMemory();
        }
      });
}

void BoxRun::ArmWallClock() {
  wall_timer_.expires_after(std::chrono::milliseconds(request_.limits.wall_ms_max));
  wall_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->dead_) self->Kill(KillReason::kWallClock);
  });
}

// Looks when the limit could be reached at the earliest: with all CPUs the box may use.
void BoxRun::ArmCpuClock() {
  if (request_.limits.cpu_ms_max == 0 || slot_ == nullptr) return;
  const std::uint64_t limit_us = std::uint64_t{request_.limits.cpu_ms_max} * 1000;
  const std::uint64_t used_us = slot_->Usage().cpu_us;
  if (used_us >= limit_us) {
    Kill(KillReason::kCpuClock);
    return;
  }
  const std::uint64_t wait_us = std::max<std::uint64_t>(limit_us - used_us, 5'000);
  cpu_timer_.expires_after(std::chrono::microseconds(wait_us));
  cpu_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->dead_ && !self->delivered_) self->ArmCpuClock();
  });
}

// The box is locked and waits: the request goes in and the clocks start.
void BoxRun::HandOver() {
  StartMeter();
  if (over()) return;
  report_.handed_over = true;
  handed_over_at_ = Clock::now();
  if (calls_) calls_->StartClock();
  wire::RunRequest run = MakeRunRequest(
      request_, nonce_, measured_tmpfs_ == nullptr ? kDataSlackBytes : kMeteredDataSlackBytes);
  // A box with the server's own uid: the kernel counts everything that user runs.
  if (shared_folder_ != nullptr && ::geteuid() != 0) {
    run.processes_max += sandbox::CountTasksOf(::geteuid());
  }
  run_frame_ = wire::Frame(wire::FrameKind::kRun, wire::EncodeRunRequest(run));
  asio::async_write(gate_, asio::buffer(run_frame_),
                    [self = shared_from_this()](const error_code&, std::size_t) {
                      self->run_frame_.clear();
                      self->run_frame_.shrink_to_fit();
                    });
  ArmWallClock();
  ArmCpuClock();
  if (meter_) MeterMemory();
  FeedInput();
}

// Fails closed: a box that cannot be looked at does not get the request.
void BoxRun::StartMeter() {
  if (measured_tmpfs_ == nullptr) return;
  auto meter = shared_folder_ != nullptr
                   ? sandbox::MemoryMeter::OpenShared(pidfd_.native_handle(), *shared_folder_)
                   : sandbox::MemoryMeter::Open(pidfd_.native_handle(), *measured_tmpfs_);
  if (meter) {
    meter_ = std::move(*meter);
    return;
  }
  report_.setup_error = std::move(meter).error();
  Kill(KillReason::kNone);
  Deliver();
}

void BoxRun::MeterMemory() {
  const std::uint64_t limit = request_.limits.memory_bytes_max;
  const std::uint64_t used = meter_->Measure(limit);
  if (used > limit) return Kill(KillReason::kMemory);
  // Init and Python are two; more can grow in turn, and faster than one.
  const bool near = used > limit / 2 || meter_->processes() > 2;
  memory_timer_.expires_after(near ? kMeterIntervalNearLimit : kMeterInterval);
  memory_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->dead_ && !self->delivered_) self->MeterMemory();
  });
}

void BoxRun::FeedInput() {
  if (request_.stdin_fd >= 0) {
    input_.assign(::fcntl(request_.stdin_fd, F_DUPFD_CLOEXEC, 3));
    PumpInput();
    return;
  }
  if (request_.stdin_text.empty()) {
    stdin_.close();
    return;
  }
  asio::async_write(stdin_, asio::buffer(request_.stdin_text),
                    [self = shared_from_this()](const error_code&, std::size_t) {
                      error_code ignored;
                      self->stdin_.close(ignored);
                    });
}

void BoxRun::PumpInput() {
  input_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (self->dead_ || self->delivered_) return;
    std::string& bytes = self->request_.stdin_text;
    bytes.resize(kReadBytes);
    const ssize_t got =
        error ? 0 : ::read(self->input_.native_handle(), bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got <= 0) {  // the end of the input, or the end of what we can know of it
      error_code ignored;
      self->stdin_.close(ignored);
      return;
    }
    asio::async_write(self->stdin_, asio::buffer(bytes),
                      [self](const error_code& write_error, std::size_t) {
                        if (!write_error) self->PumpInput();
                      });
  });
}

void BoxRun::TakeOutput(OutputLimiter& limiter, std::string_view bytes) {
  limiter.Append(bytes);
  if (observer_ != nullptr) {
    if (&limiter == &stdout_limiter_) {
      observer_->OnStdout(bytes);
    } else {
      observer_->OnStderr(bytes);
    }
  }
  if (limiter.flooded()) Kill(KillReason::kOutput);
}

void BoxRun::TakeGateBytes(std::string_view bytes) {
  parser_.Append(bytes);
  while (std::optional<wire::FrameParser::Parsed> frame = parser_.Next()) {
    if (frame->kind == wire::FrameKind::kReady && !report_.handed_over) {
      HandOver();
      continue;
    }
    std::optional<wire::RunResult> result = wire::DecodeRunResult(frame->payload, nonce_);
    if (frame->kind != wire::FrameKind::kResult || !report_.handed_over || !result) {
      Kill(KillReason::kProtocol);
      return;
    }
    if (report_.killed != KillReason::kNone) return;  // too late: the verdict is spoken
    report_.result = std::move(result);
    DrainNow();
    Deliver();
    Kill(KillReason::kNone);
    return;
  }
  if (parser_.broken()) Kill(KillReason::kProtocol);
}

void BoxRun::TakeStatus(const sandbox::StatusRecord& record) {
  switch (record.kind) {
    case sandbox::StatusKind::kBuildFailed:
      report_.setup_error =
          Error::FromErrno("building the box: " + sandbox::StageName(record.failure.stage),
                           record.failure.sys_errno);
      return;
    case sandbox::StatusKind::kEnded:
      report_.wait_status = record.wait_status;
      report_.init_cpu_us = record.cpu_us;
      return;
  }
}

// Takes what the pipes hold at this moment. Python flushed before it answered, or is dead.
void BoxRun::DrainNow() {
  for (auto [descriptor, limiter] :
       {std::pair(&stdout_, &stdout_limiter_), std::pair(&stderr_, &stderr_limiter_)}) {
    ssize_t got = 0;
    while (!limiter->flooded() && (got = ReadSome(*descriptor)) > 0) {
      TakeOutput(*limiter, {buffer_.data(), static_cast<std::size_t>(got)});
    }
  }
}

// First reason wins; kNone only makes sure that the box ends. The outcome does not wait for the
// last process to die: what was written until now is taken, the rest is tear-down.
void BoxRun::Kill(KillReason reason) {
  const bool verdict = report_.killed == KillReason::kNone && !delivered_;
  if (verdict) report_.killed = reason;
  if (dead_ || !pidfd_.is_open()) return;
  if (reason != KillReason::kNone && slot_ != nullptr) slot_->LiftCpuLimit();
  EndBox();
  if (!verdict || reason == KillReason::kNone) return;
  if (reason != KillReason::kOutput) DrainNow();
  Deliver();
}

// The init of a PID namespace takes everything in it along. One without a namespace is asked to.
void BoxRun::EndBox() {
  const int signal = shared_folder_ == nullptr ? SIGKILL : SIGTERM;
  ::syscall(SYS_pidfd_send_signal, pidfd_.native_handle(), signal, nullptr, 0);
}

void BoxRun::Abandon() {
  dead_ = delivered_ = true;
  slot_ = nullptr;
  handlers_ = {};
  wall_timer_.cancel();
  cpu_timer_.cancel();
  memory_timer_.cancel();
  CloseAll();
}

void BoxRun::CloseAll() {
  error_code ignored;
  for (Descriptor* descriptor :
       {&stdin_, &stdout_, &stderr_, &gate_, &status_, &pidfd_, &oom_event_, &input_}) {
    descriptor->close(ignored);
  }
}

void BoxRun::OnDeath() {
  if (!delivered_) {
    // Whatever was said before the end still lies in the pipes.
    DrainNow();
    ssize_t got = 0;
    while (!delivered_ && report_.killed == KillReason::kNone && (got = ReadGateBytes()) > 0) {
      TakeGateBytes({buffer_.data(), static_cast<std::size_t>(got)});
    }
    sandbox::StatusRecord record;
    while (::read(status_.native_handle(), &record, sizeof(record)) == sizeof(record)) {
      TakeStatus(record);
    }
  }
  dead_ = true;
  if (slot_ != nullptr) slot_->KillAll();
  Deliver();
  CloseAll();
  handlers_.gone();
}

void BoxRun::Deliver() {
  if (std::exchange(delivered_, true)) return;
  wall_timer_.cancel();
  cpu_timer_.cancel();
  memory_timer_.cancel();
  error_code ignored;
  input_.close(ignored);
  if (report_.handed_over) {
    report_.wall_seconds = std::chrono::duration<double>(Clock::now() - handed_over_at_).count();
  }
  if (slot_ != nullptr) report_.usage = slot_->Usage();
  if (meter_) report_.sampled_peak_bytes = meter_->peak();
  Outcome outcome = Judge(report_, request_);
  if (measured_tmpfs_ != nullptr) outcome.limits_tier = LimitsTier::kSupervisor;
  outcome.stdout_stream = std::move(stdout_limiter_).Finish();
  outcome.stderr_stream = std::move(stderr_limiter_).Finish();
  TakeEvents(outcome);
  handlers_.done(std::move(outcome));
}

// The kernel's among the interpreter's, in the order in which they happened.
void BoxRun::TakeEvents(Outcome& outcome) {
  if (watcher_ != nullptr && calls_ == nullptr && report_.handed_over) {
    outcome.missing_walls.emplace_back(
        "kernel events: another supervisor listens to this process's system calls already");
  }
  if (calls_ == nullptr) return;
  sandbox::CallRecord::Taken calls = calls_->Take();
  outcome.events_dropped += calls.dropped;
  std::move(calls.events.begin(), calls.events.end(), std::back_inserter(outcome.events));
  std::stable_sort(outcome.events.begin(), outcome.events.end(),
                   [](const Event& a, const Event& b) { return a.seconds < b.seconds; });
}

}  // namespace glovebox

#include "executor/box_run.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <span>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "base/await_readable.h"
#include "executor/box_source.h"
#include "sandbox/parent/user_tasks.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Most programs end sooner, and are read when they have: each wake-up for a line of output costs as
// much as running it. A program that prints more than a pipe holds waits that long, once.
constexpr auto kListenAfter = std::chrono::milliseconds(2);
constexpr std::size_t kReadBytes = 64u << 10;
// RLIMIT_DATA counts address space, not memory: room for thread stacks, which are mostly untouched.
constexpr std::uint64_t kDataSlackBytes = 512ull << 20;
// Where only looking holds the limit, less: what one process can take between two looks.
constexpr std::uint64_t kMeteredDataSlackBytes = 128ull << 20;
constexpr auto kMeterInterval = std::chrono::milliseconds(10);
constexpr auto kMeterIntervalNearLimit = std::chrono::milliseconds(2);
// The cgroup's limit is to be met first, because it counts its refusals and an rlimit does not.
constexpr std::uint32_t kProcessSlack = 8;

// A kernel in user space keeps its own accounts of what code uses, and has threads for it.
constexpr std::uint64_t kRuntimeMemorySlack = 32ull << 20;
constexpr std::uint32_t kTasksPerProcess = 4;

// For the read at hand, whichever run makes it: its bytes are taken before the next.
std::span<char> ReadBuffer() {
  thread_local std::array<char, kReadBytes> buffer;
  return buffer;
}

ssize_t ReadSome(int fd) { return ::read(fd, ReadBuffer().data(), kReadBytes); }

std::string_view Taken(ssize_t got) { return {ReadBuffer().data(), static_cast<std::size_t>(got)}; }

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

BoxRun::BoxRun(asio::io_context& context, std::shared_ptr<Box> box, ExecutionRequest request,
               ExecutionObserver* observer, Handlers handlers)
    : context_(context),
      box_(std::move(box)),
      request_(std::move(request)),
      observer_(observer),
      handlers_(std::move(handlers)),
      nonce_(RandomNumber()),
      input_(context),
      stdin_(context),
      stdout_(context),
      stderr_(context),
      oom_event_(context),
      listen_timer_(context),
      wall_timer_(context),
      cpu_timer_(context),
      memory_timer_(context),
      stdout_limiter_(request_.limits.output_chars_max),
      stderr_limiter_(request_.limits.output_chars_max) {}

Status BoxRun::Start() {
  TRY(SetLimits());
  const auto self = shared_from_this();
  box_->Take([self] { self->OnDeath(); });
  box_->on_answer = [self] { self->TakeAnswer(); };
  box_->on_flood = [self] { self->Kill(KillReason::kEvents); };
  handed_over_at_ = Clock::now();
  if (box_->calls()) box_->calls()->StartClock();
  SendRequest();
  const bool has_input = request_.stdin_fd >= 0 || !request_.stdin_text.empty();
  if (has_input || box_->meter()) Attend();
  return {};
}

void BoxRun::Attend() {
  if (over() || std::exchange(attended_, true)) return;
  ListenLater();
  ArmWallClock();
  ArmCpuClock();
  if (box_->meter()) ArmMeter(kMeterIntervalNearLimit);
  FeedInput();
}

// The box was made before anybody knew what the request would ask for.
Status BoxRun::SetLimits() {
  if (box_->cgroup() == nullptr) return {};
  sandbox::CgroupLimits wanted = GroupLimits(request_.limits);
  if (box_->own_kernel()) {
    wanted.memory_bytes_max += kRuntimeMemorySlack;
    wanted.processes_max *= kTasksPerProcess;
  }
  wanted.memory_bytes_max += box_->overhead().memory_bytes;
  wanted.processes_max += box_->overhead().processes;
  return box_->cgroup()->SetLimits(wanted);
}

// At once, as far as the socket takes it: the box works while we set the clocks.
void BoxRun::SendRequest() {
  wire::RunRequest run =
      MakeRunRequest(request_, nonce_, box_->metered() ? kMeteredDataSlackBytes : kDataSlackBytes);
  run.environment.insert(run.environment.begin(), box_->environment().begin(),
                         box_->environment().end());
  // In the group of a container is more than the box, and its limit has room for that; and a fork
  // under way counts here long before the group is asked. The group is to be met first.
  if (box_->in_container() && !box_->own_kernel()) {
    run.processes_max += box_->overhead().processes + request_.limits.processes_max;
  }
  // A box with the server's own uid: the kernel counts everything that user runs.
  if (box_->shares_host() && ::geteuid() != 0) {
    run.processes_max += sandbox::CountTasksOf(::geteuid());
  }
  run_frame_ = wire::Frame(wire::FrameKind::kRun, wire::EncodeRunRequest(run));
  const ssize_t put = ::write(box_->gate.native_handle(), run_frame_.data(), run_frame_.size());
  if (put < 0 && errno != EAGAIN) return;  // its death follows
  const std::size_t sent = put > 0 ? static_cast<std::size_t>(put) : 0;
  if (sent == run_frame_.size()) {
    run_frame_ = {};
    return;
  }
  asio::async_write(box_->gate, asio::buffer(run_frame_) + sent,
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      if (!error) self->run_frame_ = {};
                    });
}

// Everything is awaited first and read in the handler, never by the reactor: bytes that it had
// already taken, in a handler still queued, would be missing when another handler drains the pipes.
void BoxRun::TakeAnswer() {
  if (delivered_) return;
  const ssize_t got = ReadGateBytes();
  if (got > 0) TakeGateBytes(Taken(got));
  const bool open = got > 0 || (got < 0 && errno == EAGAIN);
  if (over()) return;
  Attend();  // also where it hung up: it may go on all the same
  if (open) box_->AwaitAnswer();
}

// The kernel tells, once, if the request, or a part of it, was not read when the box's end closed:
// no code of it has run, because the box reads it whole before it runs any.
ssize_t BoxRun::ReadGateBytes() {
  const ssize_t got = ReadSome(box_->gate.native_handle());
  if (got < 0 && errno == ECONNRESET) unread_ = true;
  return got;
}

void BoxRun::ListenLater() {
  listen_timer_.expires_at(handed_over_at_ + kListenAfter);
  listen_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->box_->dead() || self->delivered_) return;
    self->stdout_.assign(self->box_->stdout_pipe.get());
    self->stderr_.assign(self->box_->stderr_pipe.get());
    self->ReadOutput(self->stdout_, self->stdout_limiter_);
    self->ReadOutput(self->stderr_, self->stderr_limiter_);
    self->WatchMemory();
  });
}

void BoxRun::ReadOutput(Descriptor& descriptor, OutputLimiter& limiter) {
  descriptor.async_wait(Descriptor::wait_read, [self = shared_from_this(), &descriptor,
                                                &limiter](const error_code& error) {
    if (error || self->box_->dead() || self->delivered_) return;
    const ssize_t got = ReadSome(descriptor.native_handle());
    if (got > 0) self->TakeOutput(limiter, Taken(got));
    const bool open = got > 0 || (got < 0 && errno == EAGAIN);
    if (open && !self->delivered_) self->ReadOutput(descriptor, limiter);
  });
}

// Not before a program has run for a while: what happens sooner is seen when it ends.
void BoxRun::WatchMemory() {
  const int fd = box_->cgroup() != nullptr ? box_->cgroup()->oom_event_fd() : -1;
  if (fd < 0) return;
  if (!oom_event_.is_open()) oom_event_.assign(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  oom_event_.async_wait(
      Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
        if (error || self->box_->dead() || self->delivered_) return;
        std::uint64_t count = 0;
        const ssize_t got = ::read(self->oom_event_.native_handle(), &count, sizeof(count));
        if (got > 0 && self->box_->cgroup()->Usage().oom_kills > 0) {
          self->Kill(KillReason::kMemory);
        } else {
          self->WatchMemory();
        }
      });
}

void BoxRun::ArmWallClock() {
  wall_timer_.expires_at(handed_over_at_ + std::chrono::milliseconds(request_.limits.wall_ms_max));
  wall_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->delivered_) self->Kill(KillReason::kWallClock);
  });
}

// Looks when the limit could be reached at the earliest: with all CPUs the box may use.
void BoxRun::ArmCpuClock() {
  if (request_.limits.cpu_ms_max == 0 || box_->cgroup() == nullptr) return;
  const std::uint64_t limit_us = std::uint64_t{request_.limits.cpu_ms_max} * 1000;
  const std::uint64_t used_us = box_->cgroup()->Usage().cpu_us;
  if (used_us >= limit_us) {
    Kill(KillReason::kCpuClock);
    return;
  }
  const std::uint64_t wait_us = std::max<std::uint64_t>(limit_us - used_us, 5'000);
  cpu_timer_.expires_after(std::chrono::microseconds(wait_us));
  cpu_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->delivered_) self->ArmCpuClock();
  });
}

void BoxRun::MeterMemory() {
  const std::uint64_t limit = request_.limits.memory_bytes_max;
  const std::uint64_t used = box_->meter()->Measure(limit);
  if (used > limit) return Kill(KillReason::kMemory);
  // Init and Python are two; more can grow in turn, and faster than one.
  const bool near = used > limit / 2 || box_->meter()->processes() > 2;
  ArmMeter(near ? kMeterIntervalNearLimit : kMeterInterval);
}

void BoxRun::ArmMeter(std::chrono::milliseconds after) {
  memory_timer_.expires_after(after);
  memory_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->delivered_) self->MeterMemory();
  });
}

void BoxRun::FeedInput() {
  if (request_.stdin_fd >= 0) {
    input_.assign(::fcntl(request_.stdin_fd, F_DUPFD_CLOEXEC, 3));
    stdin_.assign(box_->stdin_pipe.release());
    PumpInput();
    return;
  }
  if (request_.stdin_text.empty()) return box_->stdin_pipe.reset();
  stdin_.assign(box_->stdin_pipe.release());
  asio::async_write(stdin_, asio::buffer(request_.stdin_text),
                    [self = shared_from_this()](const error_code&, std::size_t) {
                      error_code ignored;
                      self->stdin_.close(ignored);
                    });
}

void BoxRun::PumpInput() {
  AwaitReadable(input_, [self = shared_from_this()](const error_code& error) {
    if (self->delivered_) return;
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
  if (std::optional<wire::FrameParser::Parsed> frame = parser_.Next()) {
    std::optional<wire::RunResult> result = wire::DecodeRunResult(frame->payload, nonce_);
    if (frame->kind != wire::FrameKind::kResult || !result) return Kill(KillReason::kProtocol);
    if (report_.killed != KillReason::kNone) return;  // too late: the verdict is spoken
    report_.result = std::move(result);
    DrainNow();
    return Deliver();
  }
  if (parser_.broken()) Kill(KillReason::kProtocol);
}

// Takes what the pipes hold at this moment. Python flushed before it answered, or is dead.
void BoxRun::DrainNow() {
  for (auto [fd, limiter] : {std::pair(box_->stdout_pipe.get(), &stdout_limiter_),
                             std::pair(box_->stderr_pipe.get(), &stderr_limiter_)}) {
    ssize_t got = 0;
    while (!limiter->flooded() && (got = ReadSome(fd)) > 0) {
      TakeOutput(*limiter, Taken(got));
    }
  }
}

// First reason wins. The outcome does not wait for the last process to die: what was written until
// now is taken, the rest is tear-down.
void BoxRun::Kill(KillReason reason) {
  if (over()) return;
  report_.killed = reason;
  if (box_->cgroup() != nullptr) box_->cgroup()->LiftCpuLimit();
  box_->Kill();
  if (reason != KillReason::kOutput) DrainNow();
  Deliver();
}

void BoxRun::Abandon() {
  delivered_ = true;
  handlers_ = {};
  StopWaiting();
}

// Whatever was said before the end still lies in the pipes.
void BoxRun::OnDeath() {
  if (delivered_) return;
  DrainNow();
  ssize_t got = 0;
  while (!over() && (got = ReadGateBytes()) > 0) TakeGateBytes(Taken(got));
  if (over()) return;
  if (unread_ || !run_frame_.empty()) {
    delivered_ = true;
    StopWaiting();
    std::exchange(handlers_, {}).unread();
    return;
  }
  if (box_->ending()) {
    report_.wait_status = box_->ending()->wait_status;
    report_.init_cpu_us = box_->ending()->cpu_us;
  }
  Deliver();
}

void BoxRun::StopWaiting() {
  listen_timer_.cancel();
  wall_timer_.cancel();
  cpu_timer_.cancel();
  memory_timer_.cancel();
  error_code ignored;
  input_.close(ignored);
  stdin_.close(ignored);
  oom_event_.close(ignored);
  for (Descriptor* borrowed : {&stdout_, &stderr_}) {
    if (borrowed->is_open()) borrowed->release();
  }
}

void BoxRun::Deliver() {
  if (std::exchange(delivered_, true)) return;
  StopWaiting();
  report_.in_container = box_->in_container();
  report_.wall_seconds = std::chrono::duration<double>(Clock::now() - handed_over_at_).count();
  if (box_->cgroup() != nullptr) {
    report_.usage = box_->cgroup()->Usage();
    std::uint64_t& peak = report_.usage->memory_peak_bytes;
    peak -= std::min(peak, box_->overhead().memory_bytes);
  }
  if (box_->meter()) report_.sampled_peak_bytes = box_->meter()->peak();
  Outcome outcome = Judge(report_, request_);
  if (box_->metered()) outcome.limits_tier = LimitsTier::kSupervisor;
  outcome.stdout_stream = std::move(stdout_limiter_).Finish();
  outcome.stderr_stream = std::move(stderr_limiter_).Finish();
  TakeEvents(outcome);
  box_->on_answer = nullptr;
  box_->on_flood = nullptr;
  std::exchange(handlers_, {}).done(std::move(outcome));
}

// The kernel's among the interpreter's, in the order in which they happened.
void BoxRun::TakeEvents(Outcome& outcome) {
  if (box_->watched() && box_->calls() == nullptr) {
    outcome.missing_walls.emplace_back(
        "kernel events: another supervisor listens to this process's system calls already");
  }
  std::vector<Event> connections = box_->FinishEgress(handed_over_at_);
  std::move(connections.begin(), connections.end(), std::back_inserter(outcome.events));
  if (box_->calls() != nullptr) {
    sandbox::CallRecord::Taken calls = box_->calls()->Take();
    outcome.events_dropped += calls.dropped;
    std::move(calls.events.begin(), calls.events.end(), std::back_inserter(outcome.events));
  }
  std::stable_sort(outcome.events.begin(), outcome.events.end(),
                   [](const Event& a, const Event& b) { return a.seconds < b.seconds; });
}

}  // namespace glovebox

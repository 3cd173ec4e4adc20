#include "executor/box.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <boost/asio/post.hpp>

#include "base/await_readable.h"
#include "python/wire/descriptor_passing.h"
#include "python/wire/gate.h"
#include "sandbox/parent/listeners.h"
#include "sandbox/parent/spawn.h"

namespace glovebox {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

}  // namespace

Box::Box(asio::io_context& context, ServerEnds channels, Means means)
    : stdin_pipe(std::move(channels.stdin_write)),
      stdout_pipe(std::move(channels.stdout_read)),
      stderr_pipe(std::move(channels.stderr_read)),
      gate(context, channels.gate.release()),
      context_(context),
      means_(std::move(means)),
      status_(std::move(channels.status_read)),
      pidfd_(context),
      birth_timer_(context) {}

sandbox::CgroupSlot* Box::cgroup() { return means_.slot->cgroup ? &*means_.slot->cgroup : nullptr; }

void Box::Begin() {
  birth_timer_.expires_after(means_.birth_time_max);
  birth_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->dead_ || self->ready_) return;
    self->Lose(Error(Errc::kSystem, "The box was not ready in time"));
    self->Kill();
  });
}

void Box::OnBorn(Result<UniqueFd> pidfd) {
  if (dead_) return;  // abandoned
  if (!pidfd) {
    Lose(pidfd.error());
    dead_ = true;
    CloseAll();
    if (const auto gone = std::exchange(handlers, {}).gone) gone();
    return;
  }
  pidfd_.assign(pidfd->release());
  AwaitReadable(pidfd_, [self = shared_from_this()](const error_code& error) {
    if (!error && !self->dead_) self->OnDeath();
  });
  if (unwanted_) return Kill();
  error_code ignored;
  gate.native_non_blocking(true, ignored);  // now, so that it need not be done at hand-over
  AwaitReady();
}

void Box::AwaitReady() {
  gate.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (!error && !self->dead_ && !self->unwanted_) self->ReadReady();
  });
}

// Nothing untrusted has run yet: what comes is our own, and the filter's listener comes with it.
void Box::ReadReady() {
  wire::ReceivedMessage message;
  const int error = wire::ReceiveWithDescriptors(gate.native_handle(), message);
  if (error == EAGAIN) return AwaitReady();
  if (error != 0 || message.payload.empty()) return;  // its death follows, and says why
  for (const int fd : message.fds) WatchCalls(UniqueFd(fd));
  greeting_.append(message.payload.begin(), message.payload.end());
  const std::string expected = wire::Frame(wire::FrameKind::kReady, {});
  if (greeting_ == expected) return BecomeReady();
  if (greeting_.size() < expected.size()) return AwaitReady();
  Lose(Error(Errc::kInternal, "the box's first words are not understood"));
  Kill();
}

void Box::BecomeReady() {
  birth_timer_.cancel();
  if (metered()) {
    // Fails closed: a box that cannot be looked at gets no request.
    auto meter = shares_host()
                     ? sandbox::MemoryMeter::OpenShared(pidfd_.native_handle(), slot().folder)
                     : sandbox::MemoryMeter::Open(pidfd_.native_handle(), *means_.measured_tmpfs);
    if (!meter) {
      Lose(meter.error());
      return Kill();
    }
    meter_ = std::move(*meter);
  }
  if (Status started = StartEgress(); !started) {
    Lose(started.error());
    return Kill();
  }
  if (cgroup() != nullptr && in_container()) {
    overhead_ = {cgroup()->MemoryNow(), cgroup()->ProcessesNow()};
    cgroup()->ResetPeak();
  }
  if (cgroup() != nullptr) cgroup()->CountFromHere();
  ready_ = true;
  AwaitAnswer();
  if (handlers.ready) std::exchange(handlers.ready, nullptr)();
}

void Box::AwaitAnswer() {
  gate.async_wait(Descriptor::wait_read, [self = shared_from_this()](const error_code& error) {
    if (error || self->dead_) return;
    if (self->taken_) {
      const auto answer = self->on_answer;  // which may be taken away while it runs
      if (answer) answer();
    } else if (IsReady(self->gate.native_handle(), POLLIN)) {
      self->Kill();  // it has nothing to say before it is asked
    } else {
      self->AwaitAnswer();
    }
  });
}

// Its listeners were sent before Python existed.
Status Box::StartEgress() {
  BoxEgress& egress = means_.egress;
  if (!egress.listener_socket) return {};
  proxy_ = TRY(egress.start(
      TRY(sandbox::ReceiveListeners(egress.listener_socket.get(), egress.listener_count))));
  egress.listener_socket.reset();
  return {};
}

std::vector<Event> Box::FinishEgress(std::chrono::steady_clock::time_point start) {
  std::vector<Event> events;
  if (proxy_ == nullptr) return events;
  const auto now = std::chrono::steady_clock::now();
  egress::Proxy::Taken taken = proxy_->Finish();
  proxy_ = nullptr;
  if (taken.failure) {
    Event event;
    event.source = EventSource::kEgress;
    event.layer = "egress";
    event.operation = "start";
    event.refused = true;
    event.rule = taken.failure->message();
    events.push_back(std::move(event));
  }
  for (const egress::ConnectionReport& report : taken.connections) {
    if (events.size() >= sandbox::kCallEventsMax) break;
    events.push_back(egress::ToEvent(report));
    // The proxy's word, so it is kept within the time that there was.
    const auto asked = std::clamp(
        std::chrono::steady_clock::time_point(std::chrono::nanoseconds(report.asked_at_ns)), start,
        now);
    events.back().seconds = std::chrono::duration<double>(asked - start).count();
  }
  return events;
}

void Box::WatchCalls(UniqueFd listener) {
  if (means_.watcher == nullptr || calls_ != nullptr) return;
  calls_ = std::make_shared<sandbox::CallRecord>([this, weak = weak_from_this()] {
    asio::post(context_, [weak] {
      const auto self = weak.lock();
      if (self != nullptr && self->on_flood) self->on_flood();
    });
  });
  std::optional<sandbox::OwnNetwork> network;
  if (means_.egress.start) network = sandbox::OwnNetwork{means_.egress.remedy};
  watched_ = means_.watcher->Watch(std::move(listener), calls_, std::move(network));
}

void Box::Take(std::function<void()> on_death) {
  CHECK(waiting());
  taken_ = true;
  on_death_ = std::move(on_death);
}

void Box::Lose(const Error& error) {
  if (ready_ || unwanted_) return;
  const auto lost = std::exchange(handlers.lost, nullptr);
  handlers.ready = nullptr;
  unwanted_ = true;
  if (lost) lost(error);
}

// The init of a PID namespace takes everything in it along. One without a namespace is asked to.
void Box::Kill() {
  if (!taken_) unwanted_ = true;
  if (dead_ || !pidfd_.is_open()) return;
  if (watched_ != 0) means_.watcher->Forget(std::exchange(watched_, 0));
  const int signal = shares_host() ? SIGTERM : SIGKILL;
  ::syscall(SYS_pidfd_send_signal, pidfd_.native_handle(), signal, nullptr, 0);
}

void Box::ReadStatus() {
  sandbox::StatusRecord record;
  while (::read(status_.get(), &record, sizeof(record)) == sizeof(record)) {
    if (record.kind == sandbox::StatusKind::kEnded) {
      ending_ = record;
    } else {
      build_error_ =
          Error::FromErrno("building the box: " + sandbox::StageName(record.failure.stage),
                           record.failure.sys_errno);
    }
  }
}

std::string Box::EarlyDeath() const {
  if (!ending_) return "The box died with the Python process it came from (glovebox-python)";
  return "Python ended before the box was ready (wait status " +
         std::to_string(ending_->wait_status) + ")";
}

void Box::OnDeath() {
  const auto self = shared_from_this();
  ReadStatus();
  dead_ = true;
  birth_timer_.cancel();
  if (const auto on_death = std::exchange(on_death_, nullptr)) on_death();
  if (!ready_) {
    Lose(build_error_ ? *build_error_ : Error(Errc::kSystem, EarlyDeath()));
  }
  if (handlers.gone && cgroup() != nullptr) cgroup()->KillAll();
  CloseAll();
  on_answer = nullptr;
  on_flood = nullptr;
  proxy_ = nullptr;
  if (const auto gone = std::exchange(handlers, {}).gone) gone();
}

void Box::Abandon() {
  dead_ = true;
  handlers = {};
  on_death_ = nullptr;
  on_answer = nullptr;
  on_flood = nullptr;
  birth_timer_.cancel();
  CloseAll();
}

void Box::CloseAll() {
  error_code ignored;
  for (Descriptor* descriptor : {&gate, &pidfd_}) descriptor->close(ignored);
  for (UniqueFd* fd : {&stdin_pipe, &stdout_pipe, &stderr_pipe, &status_}) fd->reset();
}

}  // namespace glovebox

#include "sandbox/parent/call_watcher.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "sandbox/compile/filters.h"
#include "sandbox/parent/call_target.h"

namespace glovebox::sandbox {
namespace {

constexpr char kRemedy[] = "nothing allows it in a box";
constexpr std::string_view kConnect = "connect";

const WatchedCall* FindCall(std::span<const WatchedCall> calls, int number) {
  const auto found = std::find_if(calls.begin(), calls.end(), [number](const WatchedCall& call) {
    return call.number == static_cast<std::uint32_t>(number);
  });
  return found == calls.end() ? nullptr : &*found;
}

// Caller and watcher take turns, so they are woken on the same CPU: waking another one, which
// sleeps, takes several times as long. Linux 6.6 and later; before, it is only slower.
void StayOnOneCpu(int listener) {
  constexpr unsigned long kSetFlags = _IOW('!', 4, std::uint64_t);  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
  constexpr unsigned long kSyncWakeUp = 1;                          // SECCOMP_USER_NOTIF_FD_...
  ::ioctl(listener, kSetFlags, kSyncWakeUp);
}

using Arguments = std::array<std::uint64_t, 6>;

Event Describe(const seccomp_notif& request, const WatchedCall* call, const Arguments& arguments,
               const MemoryReader& read) {
  Event event;
  event.source = EventSource::kKernel;
  event.layer = "seccomp";
  event.operation = call != nullptr ? call->name : "call " + std::to_string(request.data.nr);
  event.rule = call != nullptr ? call->why : "";
  event.refused = true;
  event.remedy = kRemedy;
  event.target = DescribeTarget(event.operation, arguments, read);
  return event;
}

}  // namespace

void CallRecord::StartClock() {
  const std::lock_guard lock(mutex_);
  start_ = std::chrono::steady_clock::now();
}

CallRecord::Taken CallRecord::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(taken_, {});
}

void CallRecord::Add(Event event) {
  std::function<void()> flooded;
  {
    const std::lock_guard lock(mutex_);
    const auto since = std::chrono::steady_clock::now() - start_;
    event.seconds = std::chrono::duration<double>(since).count();
    if (count_ < kCallEventsMax) {
      taken_.events.push_back(std::move(event));
    } else {
      ++taken_.dropped;
    }
    if (++count_ == kCallEventsBeforeEnd) flooded = std::exchange(on_flood_, nullptr);
  }
  if (flooded) flooded();
}

Result<std::unique_ptr<CallWatcher>> CallWatcher::Start() {
  UniqueFd news(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  UniqueFd boxes(::epoll_create1(EPOLL_CLOEXEC));
  if (!news || !boxes) return Error::FromErrno("watching system calls", errno);
  std::unique_ptr<CallWatcher> watcher(new CallWatcher(std::move(news), std::move(boxes)));
  // Signals are the main thread's business.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watcher->thread_ = std::thread([raw = watcher.get()] { raw->Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return watcher;
}

CallWatcher::~CallWatcher() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  Wake();
  thread_.join();
}

void CallWatcher::Wake() {
  const std::uint64_t one = 1;
  // Fails when it is full, and then the thread has been told.
  while (::write(news_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

// Most boxes never attempt anything: their listeners are told to the kernel, and the thread sleeps
// on.
CallWatcher::Number CallWatcher::Watch(UniqueFd listener, std::shared_ptr<CallRecord> record,
                                       std::optional<OwnNetwork> network) {
  const int fd = listener.get();
  const std::lock_guard lock(mutex_);
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = ++last_;
  Watched watched = {std::move(listener), std::move(record), std::move(network), nullptr};
  watched.polled = ::epoll_ctl(boxes_.get(), EPOLL_CTL_ADD, fd, &event) != 0;  // it has a limit
  if (watched.polled) Wake();
  watched_[last_] = std::make_shared<Watched>(std::move(watched));
  return last_;
}

void CallWatcher::Watch(UniqueFd listener, std::shared_ptr<CallJudge> judge) {
  StayOnOneCpu(listener.get());
  const std::lock_guard lock(mutex_);
  watched_[++last_] = std::make_shared<Watched>(
      Watched{std::move(listener), nullptr, std::nullopt, std::move(judge), true});
  Wake();
}

void CallWatcher::Forget(Number number) {
  const std::lock_guard lock(mutex_);
  watched_.erase(number);
}

// False when there is nothing to do any more.
bool CallWatcher::List(Awaited& awaited) {
  const std::lock_guard lock(mutex_);
  awaited.polled = {{news_.get(), POLLIN, 0}, {boxes_.get(), POLLIN, 0}};
  awaited.numbers.clear();
  for (const auto& [number, watched] : watched_) {
    if (!watched->polled) continue;
    awaited.polled.push_back({watched->listener.get(), POLLIN, 0});
    awaited.numbers.push_back(number);
  }
  return !stopped_;
}

// Listeners whose programs make many watched calls are polled: poll(2) alone passes on which CPU
// the watcher is to be woken on, epoll does not.
void CallWatcher::Run() {
  Awaited awaited;
  while (List(awaited)) {
    std::vector<pollfd>& polled = awaited.polled;
    if (::poll(polled.data(), polled.size(), -1) <= 0) continue;
    std::uint64_t ignored = 0;
    if (polled[0].revents != 0 && ::read(news_.get(), &ignored, sizeof(ignored)) < 0) continue;
    if (polled[1].revents != 0) ServeBoxes();
    for (std::size_t i = 0; i < awaited.numbers.size(); ++i) {
      const short happened = polled[i + 2].revents;
      if (happened != 0) Serve(awaited.numbers[i], (happened & POLLIN) != 0);
    }
  }
}

void CallWatcher::ServeBoxes() {
  std::array<epoll_event, 16> events;
  const int count = ::epoll_wait(boxes_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    Serve(event.data.u64, (event.events & EPOLLIN) != 0);
  }
}

// `asked`: a call waits for its answer. Otherwise nobody is left under the filter, and nothing will
// come.
void CallWatcher::Serve(Number number, bool asked) {
  std::shared_ptr<Watched> watched;
  {
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(number);
    if (found == watched_.end()) return;
    watched = found->second;
    if (!asked) {
      watched_.erase(found);
    } else if (!watched->polled) {
      PollFromNowOn(*watched);
    }
  }
  if (asked) Answer(*watched);
}

// A box that has attempted something attempts more: in a loop, thousands of times a second.
void CallWatcher::PollFromNowOn(Watched& watched) {
  watched.polled = true;
  ::epoll_ctl(boxes_.get(), EPOLL_CTL_DEL, watched.listener.get(), nullptr);
  StayOnOneCpu(watched.listener.get());
}

// What a call is answered with: made after all, or an error.
seccomp_notif_resp CallWatcher::Decide(Watched& watched, const seccomp_notif& request) {
  seccomp_notif_resp response = {};
  response.id = request.id;
  CallJudge* const judge = watched.judge.get();
  const WatchedCall* call =
      FindCall(judge != nullptr ? judge->calls() : PythonWatchedCalls(), request.data.nr);
  Arguments arguments;
  std::copy(std::begin(request.data.args), std::end(request.data.args), arguments.begin());
  const auto pid = static_cast<pid_t>(request.pid);
  const MemoryReader read = MemoryOf(pid);
  if (judge != nullptr && call != nullptr && call->error == 0) {
    // Other walls decide: the call is made whatever its memory says by now. A server makes
    // thousands of these as it starts, so nothing more is done here than must be.
    judge->Observed({call->name, DescribeTarget(call->name, arguments, read), arguments, pid});
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return response;
  }
  const bool connects = watched.network && call != nullptr && call->name == kConnect;
  if (connects && LeadsToLoopback(arguments, read)) {
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return response;
  }
  response.error = -(call != nullptr ? call->error : EPERM);
  if (connects) response.error = -ENETUNREACH;  // what the kernel would say
  if (call != nullptr && !IsNotable(call->name, arguments, read)) return response;
  Event event = Describe(request, call, arguments, read);
  if (connects) {
    event.layer = "net namespace";
    event.rule = "the box's network has nothing but lo; hosts are reached through the egress";
    event.remedy = watched.network->remedy;
  }
  // Was the memory that was read still the caller's?
  if (::ioctl(watched.listener.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &request.id) != 0) {
    event.target = "<gone>";
  }
  if (judge == nullptr) {
    watched.record->Add(std::move(event));
  } else {
    judge->Refused({event.operation, event.target, arguments, pid}, event);
  }
  return response;
}

void CallWatcher::Answer(Watched& watched) {
  seccomp_notif request = {};
  // Fails when the caller was killed meanwhile.
  if (::ioctl(watched.listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  seccomp_notif_resp response = Decide(watched, request);
  ::ioctl(watched.listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

}  // namespace glovebox::sandbox

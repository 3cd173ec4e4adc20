#include "transport/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/await_readable.h"
#include "base/utf8.h"

namespace glovebox {
namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

constexpr int kFirstOtherFd = 3;
constexpr int kReapMillisecondsMax = 1000;
constexpr int kLastReadsMax = 64;  // of stderr, once the program has ended

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Both ends above the standard streams: an end that already is descriptor 0, 1 or 2 (ours may be
// closed) would be overwritten while the child's streams are put in place.
Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::FromErrno("pipe2", errno);
  Pipe made{UniqueFd(ends[0]), UniqueFd(ends[1])};
  for (UniqueFd* end : {&made.read, &made.write}) {
    if (end->get() >= kFirstOtherFd) continue;
    UniqueFd higher(::fcntl(end->get(), F_DUPFD_CLOEXEC, kFirstOtherFd));
    if (!higher) return Error::FromErrno("fcntl", errno);
    *end = std::move(higher);
  }
  return made;
}

// What posix_spawn wants, given back when done.
class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void Put(int fd, int as) { Keep(::posix_spawn_file_actions_adddup2(&actions_, fd, as)); }
  void CloseFrom(int fd) { Keep(::posix_spawn_file_actions_addclosefrom_np(&actions_, fd)); }
  void Enter(const std::string& folder) {
    Keep(::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()));
  }
  int error() const { return error_; }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void Keep(int error) {
    if (error_ == 0) error_ = error;
  }

  posix_spawn_file_actions_t actions_{};
  int error_ = 0;
};

// Every signal as a program expects it, whatever we block or ignore; a session of its own.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

Status CheckOptions(const ChildProcessOptions& options) {
  if (options.argv.empty() || options.argv.front().empty()) {
    return Error(Errc::kInvalidArgument, "a program to start must be named");
  }
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (std::any_of(options.argv.begin(), options.argv.end(), has_nul)) {
    return Error(Errc::kInvalidArgument, "an argument of a program must not hold a NUL byte");
  }
  for (const std::string& entry : options.environment) {
    const std::size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos || has_nul(entry)) {
      return Error(Errc::kInvalidArgument,
                   "an environment entry must be NAME=value without a NUL byte");
    }
  }
  return {};
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  // posix_spawn's prototype is older than const; it changes nothing.
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<std::string> MinimalEnvironment() {
  std::vector<std::string> environment;
  for (const char* name : {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this process changes the environment
    if (const char* value = std::getenv(name))
      environment.push_back(std::string(name) + '=' + value);
  }
  return environment;
}

std::string ToText(const ChildExit& end) {
  if (!end.by_signal) return "ended with exit code " + std::to_string(end.code);
  const char* name = ::sigabbrev_np(end.code);
  return "was killed by " +
         (name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(end.code));
}

// Every handler holds a reference; after Abandon they find `abandoned_` set.
class ChildProcess::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(boost::asio::io_context& context, std::size_t stderr_tail_bytes)
      : pidfd_(context), stderr_(context), timer_(context), tail_bytes_max_(stderr_tail_bytes) {}

  Status Start(const ChildProcessOptions& options) {
    Pipe in = TRY(MakePipe());
    Pipe out = TRY(MakePipe());
    Pipe err;
    SpawnActions actions;
    actions.Put(in.read.get(), STDIN_FILENO);
    actions.Put(out.write.get(), STDOUT_FILENO);
    if (tail_bytes_max_ > 0) {
      err = TRY(MakePipe());
      actions.Put(err.write.get(), STDERR_FILENO);
    }
    actions.CloseFrom(kFirstOtherFd);
    if (!options.working_directory.empty()) actions.Enter(options.working_directory);
    if (actions.error() != 0) return Error::FromErrno("posix_spawn", actions.error());
    const SpawnAttributes attributes;
    const std::vector<char*> argv = Pointers(options.argv);
    const std::vector<char*> environment = Pointers(options.environment);
    const int error = ::posix_spawnp(&pid_, argv.front(), actions.get(), attributes.get(),
                                     argv.data(), environment.data());
    if (error != 0) return Error::FromErrno("starting " + options.argv.front(), error);
    running_ = true;
    input_ = std::move(in.write);
    output_ = std::move(out.read);
    return Watch(std::move(err.read));
  }

  void OnExit(ExitHandler handler) {
    handler_ = std::move(handler);
    if (!exit_) return;
    boost::asio::post(pidfd_.get_executor(), [self = shared_from_this()] { self->Tell(); });
  }

  void Stop(std::chrono::milliseconds patience) {
    if (!running_ || stopping_) return;
    stopping_ = true;
    After(patience, [this, patience] {
      SignalGroup(SIGTERM);
      SignalGroup(SIGCONT);  // a stopped program could not obey
      After(patience, [this] { SignalGroup(SIGKILL); });
    });
  }

  void Abandon() {
    abandoned_ = true;
    timer_.cancel();
    if (running_) {
      SignalGroup(SIGKILL);
      pollfd ended{pidfd_.native_handle(), POLLIN, 0};
      while (::poll(&ended, 1, kReapMillisecondsMax) < 0 && errno == EINTR) {
      }
      Reap();
    }
    error_code ignored;
    pidfd_.close(ignored);
    stderr_.close(ignored);
  }

  bool running() const { return running_; }
  pid_t pid() const { return pid_; }
  UniqueFd& input() { return input_; }
  UniqueFd& output() { return output_; }

  std::string stderr_tail() const {
    std::string_view text = tail_;
    // Cut off inside a character: its rest is no text.
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0u) == 0x80u) {
      text.remove_prefix(1);
    }
    return ToUtf8(text);
  }

 private:
  Status Watch(UniqueFd err) {
    UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd) return Error::FromErrno("pidfd_open", errno);
    error_code error;
    pidfd_.assign(pidfd.get(), error);
    if (error) return Error(Errc::kSystem, "watching a program: " + error.message());
    pidfd.release();
    AwaitReadable(pidfd_, [self = shared_from_this()](const error_code& failed) {
      if (!failed && !self->abandoned_) self->Ended();
    });
    if (!err) return {};
    stderr_.assign(err.get(), error);
    if (!error) {
      err.release();
      stderr_.non_blocking(true, error);
    }
    if (error) return Error(Errc::kSystem, "reading a program's stderr: " + error.message());
    ReadStderr();
    return {};
  }

  // Awaited first and read in the handler: what the reactor had read, with its handler still
  // queued, would be missing when the program's end drains the pipe.
  void ReadStderr() {
    stderr_.async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this()](const error_code& failed) {
                         if (failed || self->abandoned_) return;
                         error_code error;
                         const std::size_t count =
                             self->stderr_.read_some(boost::asio::buffer(self->buffer_), error);
                         if (error && error != boost::asio::error::would_block) return;
                         self->Remember(std::string_view(self->buffer_.data(), count));
                         self->ReadStderr();
                       });
  }

  void Remember(std::string_view text) {
    tail_ += text;
    if (tail_.size() > tail_bytes_max_) tail_.erase(0, tail_.size() - tail_bytes_max_);
  }

  void Ended() {
    if (!Reap()) return;
    timer_.cancel();
    for (int reads = 0; stderr_.is_open() && reads < kLastReadsMax; ++reads) {
      error_code error;
      const std::size_t count = stderr_.read_some(boost::asio::buffer(buffer_), error);
      if (error || count == 0) break;
      Remember(std::string_view(buffer_.data(), count));
    }
    error_code ignored;
    pidfd_.close(ignored);
    stderr_.close(ignored);
    Tell();
  }

  // Kills the rest of the group before its leader is reaped: until then nobody else can have its
  // number.
  bool Reap() {
    siginfo_t info{};
    const auto wait = [&](int flags) {
      int result = 0;
      do {
        result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | flags);
      } while (result != 0 && errno == EINTR);
      return result == 0 && info.si_pid == pid_;
    };
    if (!wait(WNOWAIT)) return false;
    SignalGroup(SIGKILL);
    wait(0);
    running_ = false;
    exit_ = ChildExit{info.si_code != CLD_EXITED, info.si_status};
    return true;
  }

  void Tell() {
    if (abandoned_) return;
    if (const auto handler = std::exchange(handler_, nullptr)) handler(*exit_);
  }

  void SignalGroup(int signal) const {
    if (running_) ::kill(-pid_, signal);
  }

  void After(std::chrono::milliseconds time, std::function<void()> act) {
    timer_.expires_after(time);
    timer_.async_wait(
        [self = shared_from_this(), act = std::move(act)](const error_code& cancelled) {
          if (!cancelled && self->running_ && !self->abandoned_) act();
        });
  }

  stream_descriptor pidfd_;
  stream_descriptor stderr_;
  boost::asio::steady_timer timer_;
  const std::size_t tail_bytes_max_;
  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
  std::array<char, 4096> buffer_{};
  std::string tail_;
  ExitHandler handler_;
  std::optional<ChildExit> exit_;
  bool running_ = false;  // started and not reaped
  bool stopping_ = false;
  bool abandoned_ = false;
};

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(boost::asio::io_context& context,
                                                          const ChildProcessOptions& options) {
  TRY(CheckOptions(options));
  std::unique_ptr<ChildProcess> process(
      new ChildProcess(std::make_shared<Impl>(context, options.stderr_tail_bytes)));
  TRY(process->impl_->Start(options));
  return process;
}

ChildProcess::ChildProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChildProcess::~ChildProcess() { impl_->Abandon(); }

UniqueFd ChildProcess::TakeInput() { return std::move(impl_->input()); }
UniqueFd ChildProcess::TakeOutput() { return std::move(impl_->output()); }
void ChildProcess::OnExit(ExitHandler handler) { impl_->OnExit(std::move(handler)); }
void ChildProcess::Stop(std::chrono::milliseconds patience) { impl_->Stop(patience); }
bool ChildProcess::running() const { return impl_->running(); }
int ChildProcess::pid() const { return impl_->pid(); }
std::string ChildProcess::stderr_tail() const { return impl_->stderr_tail(); }

}  // namespace glovebox

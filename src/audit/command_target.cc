#include "audit/command_target.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "base/text.h"
#include "base/unique_fd.h"

namespace glovebox::audit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPython = "/usr/bin/python3";
constexpr std::size_t kOutputBytesMax = 4u << 20;
constexpr std::chrono::seconds kTimeMax{8};  // a program of a probe takes one, at most two

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Error::FromErrno("pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The last line of what it wrote, which is where Python names an exception.
std::string LastLine(const std::string& text) {
  std::string_view rest = Trim(text);
  if (const std::size_t at = rest.rfind('\n'); at != std::string_view::npos) {
    rest.remove_prefix(at + 1);
  }
  return std::string(rest.substr(0, 300));
}

class Command final : public RunningProgram {
 public:
  Command(const std::vector<std::string>& argv, const std::string& code) {
    if (Status started = Start(argv, code); !started) {
      Attempt failed;
      failed.ran = false;
      failed.problem = started.error().message();
      attempt_ = std::move(failed);
    }
  }
  ~Command() override { End(); }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const Attempt* attempt() const override { return attempt_ ? &*attempt_ : nullptr; }
  int output_fd() const { return output_.get(); }
  int error_fd() const { return error_.get(); }
  bool over() const { return attempt_.has_value(); }

  void Look() {
    if (over()) return;
    Drain(output_, text_);
    Drain(error_, error_text_);
    int status = 0;
    const bool late = Clock::now() - started_ > kTimeMax;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended != pid_ && !late) return;
    if (ended == pid_) reaped_ = true;
    Drain(output_, text_);
    Drain(error_, error_text_);
    const bool bad = late || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    Attempt attempt;
    attempt.output = text_ + "\n" + error_text_;
    if (late) {
      attempt.ended = false;
      attempt.problem = "did not end in time";
    } else if (bad) {
      attempt.problem = WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                                            : LastLine(error_text_);
    }
    End();
    attempt_ = std::move(attempt);
  }

 private:
  Status Start(const std::vector<std::string>& argv, const std::string& code) {
    Pipe input = TRY(MakePipe());
    Pipe output = TRY(MakePipe());
    Pipe error = TRY(MakePipe());
    // All of it fits: nobody has to feed the program while it runs.
    fcntl(input.write.get(), F_SETPIPE_SZ, 1 << 20);
    fcntl(input.write.get(), F_SETFL, O_NONBLOCK);
    if (write(input.write.get(), code.data(), code.size()) != static_cast<ssize_t>(code.size())) {
      return Error::FromErrno("handing over the program", errno);
    }
    input.write.reset();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.read.get(), 0);
    posix_spawn_file_actions_adddup2(&actions, output.write.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, error.write.get(), 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t every;
    sigemptyset(&none);
    sigfillset(&every);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &every);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              static_cast<short>(POSIX_SPAWN_SETSID));
    std::vector<std::string> words = argv;
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const int failed =
        posix_spawnp(&pid_, pointers[0], &actions, &attributes, pointers.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
      pid_ = -1;
      return Error::FromErrno("starting " + words[0], failed);
    }
    output_ = std::move(output.read);
    error_ = std::move(error.read);
    fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    fcntl(error_.get(), F_SETFL, O_NONBLOCK);
    return {};
  }

  static void Drain(UniqueFd& fd, std::string& text) {
    if (!fd) return;
    std::array<char, 16384> buffer;
    ssize_t size = 0;
    while ((size = read(fd.get(), buffer.data(), buffer.size())) > 0) {
      if (text.size() < kOutputBytesMax) text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    if (size == 0) fd.reset();
  }

  void End() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    if (!reaped_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }

  pid_t pid_ = -1;
  bool reaped_ = false;
  const Clock::time_point started_ = Clock::now();
  UniqueFd output_;
  UniqueFd error_;
  std::string text_;
  std::string error_text_;
  std::optional<Attempt> attempt_;
};

// The handle that the caller has; the target keeps looking at the command itself.
class CommandHandle final : public RunningProgram {
 public:
  explicit CommandHandle(std::shared_ptr<Command> command) : command_(std::move(command)) {}
  const Attempt* attempt() const override { return command_->attempt(); }

 private:
  std::shared_ptr<Command> command_;
};

class CommandTarget final : public Target {
 public:
  explicit CommandTarget(std::vector<std::string> prefix) : prefix_(std::move(prefix)) {}

  std::unique_ptr<RunningProgram> Start(const std::string& code) override {
    std::vector<std::string> argv = prefix_;
    argv.insert(argv.end(), {kPython, "-I", "-"});
    auto command = std::make_shared<Command>(argv, code);
    running_.push_back(command);
    return std::make_unique<CommandHandle>(std::move(command));
  }

  void Turn(int milliseconds) override {
    std::vector<pollfd> polled;
    std::vector<std::weak_ptr<Command>> still;
    for (const std::weak_ptr<Command>& weak : running_) {
      const std::shared_ptr<Command> command = weak.lock();
      if (command == nullptr || command->over()) continue;
      still.push_back(weak);
      for (const int fd : {command->output_fd(), command->error_fd()}) {
        if (fd >= 0) polled.push_back({fd, POLLIN, 0});
      }
    }
    poll(polled.data(), polled.size(), milliseconds);
    running_ = std::move(still);
    for (const std::weak_ptr<Command>& weak : running_) {
      if (const std::shared_ptr<Command> command = weak.lock()) command->Look();
    }
  }

  std::string description() const override {
    if (prefix_.empty()) return "direct execution";
    std::string text = "behind";
    for (const std::string& word : prefix_) text += " " + word;
    return text;
  }

 private:
  std::vector<std::string> prefix_;
  std::vector<std::weak_ptr<Command>> running_;
};

}  // namespace

std::unique_ptr<Target> MakeCommandTarget(std::vector<std::string> prefix) {
  return std::make_unique<CommandTarget>(std::move(prefix));
}

Result<std::vector<std::string>> SplitCommand(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < text.size()) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    return Error(Errc::kInvalidArgument,
                 std::string("a ") + quote + " is never closed in: " + text);
  }
  if (in_word) words.push_back(word);
  if (words.empty()) return Error(Errc::kInvalidArgument, "the command is empty");
  return words;
}

}  // namespace glovebox::audit

// Loads an MCP server on its standard input and output, or times its first answer.
//
//   drive_stdio load SECONDS IN_FLIGHT PREPARE REQUEST -- SERVER ARGUMENT...
//   drive_stdio first ROUNDS REQUEST -- SERVER ARGUMENT...
//
// PREPARE is a file of lines sent first, one answered line awaited for each that has an id; REQUEST
// a file of one line in which @ID@ stands for the id. Prints one JSON object.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace glovebox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 256u << 10;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A server and the two pipes to it. Destroying it closes its input and waits for its end.
class Server {
 public:
  static Result<Server> Start(const std::vector<std::string>& arguments) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) < 0) return Error::FromErrno("pipe2", errno);
    UniqueFd in_read(in[0]);
    UniqueFd in_write(in[1]);
    if (::pipe2(out.data(), O_CLOEXEC) < 0) return Error::FromErrno("pipe2", errno);
    UniqueFd out_read(out[0]);
    UniqueFd out_write(out[1]);

    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in_read.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, out_write.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return Error::FromErrno("starting " + arguments[0], error);
    return Server(pid, std::move(in_write), std::move(out_read));
  }

  Server(Server&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        in_(std::move(other.in_)),
        out_(std::move(other.out_)),
        buffer_(std::move(other.buffer_)) {}
  Server& operator=(Server&&) = delete;
  ~Server() {
    if (pid_ == 0) return;
    in_.reset();
    ::waitpid(pid_, nullptr, 0);
  }

  Status Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(in_.get(), bytes.data(), bytes.size());
      if (written < 0) return Error::FromErrno("writing to the server", errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  // Waits until at least one line is there; hands every complete one to `take`.
  template <typename Take>
  Status ReceiveLines(Take take) {
    for (bool any = false; !any;) {
      const std::size_t old_size = buffer_.size();
      buffer_.resize(old_size + kReadBytes);
      const ssize_t got = ::read(out_.get(), buffer_.data() + old_size, kReadBytes);
      buffer_.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0) return Error::FromErrno("reading from the server", errno);
      if (got == 0) return Error(Errc::kSystem, "the server has ended");
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos;
           begin = end + 1) {
        take(std::string_view(buffer_).substr(begin, end - begin));
        any = true;
      }
      buffer_.erase(0, begin);
    }
    return {};
  }

 private:
  Server(pid_t pid, UniqueFd in, UniqueFd out)
      : pid_(pid), in_(std::move(in)), out_(std::move(out)) {}

  pid_t pid_;
  UniqueFd in_;
  UniqueFd out_;
  std::string buffer_;
};

Result<std::string> ReadText(const std::string& path) {
  std::optional<std::string> text = ReadFile(path);
  if (!text) return Error(Errc::kSystem, "cannot read " + path);
  return *std::move(text);
}

std::string WithId(const std::string& request, std::size_t id) {
  static constexpr std::string_view kMark = "@ID@";
  std::string line = request;
  line.replace(line.find(kMark), kMark.size(), std::to_string(id));
  return line;
}

// The number after "id": in an answer without error; nothing in notifications.
std::size_t AnsweredId(std::string_view line) {
  static constexpr std::string_view kKey = "\"id\":";
  const std::size_t at = line.find(kKey);
  if (at == std::string_view::npos || line.find("\"result\"") == std::string_view::npos) return 0;
  return std::strtoul(line.data() + at + kKey.size(), nullptr, 10);
}

double Percentile(std::vector<double>& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

void Report(std::vector<double>& milliseconds, double seconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("{\"requests\":%zu,\"seconds\":%.3f,\"rps\":%.1f,\"p50_ms\":%.4f,\"p99_ms\":%.4f}\n",
              milliseconds.size(), seconds, static_cast<double>(milliseconds.size()) / seconds,
              Percentile(milliseconds, 0.5), Percentile(milliseconds, 0.99));
}

Status Prepare(Server& server, const std::string& lines) {
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    TRY(server.Send(line + "\n"));
    if (line.find("\"id\"") == std::string::npos) continue;
    bool answered = false;
    while (!answered) {
      TRY(server.ReceiveLines(
          [&](std::string_view answer) { answered |= AnsweredId(answer) > 0; }));
    }
  }
  return {};
}

Status Load(double seconds, std::size_t in_flight, const std::string& prepare,
            const std::string& request, const std::vector<std::string>& command) {
  Server server = TRY(Server::Start(command));
  TRY(Prepare(server, prepare));
  // Ids are indices into `sent`; the first ones belong to what prepared the session.
  constexpr std::size_t kFirstId = 1000;
  std::vector<Clock::time_point> sent;
  std::vector<double> milliseconds;
  std::string outgoing;
  const auto ask = [&] {
    outgoing += WithId(request, kFirstId + sent.size());
    sent.push_back(Clock::now());
  };
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < in_flight; ++i) ask();
  while (milliseconds.size() < sent.size()) {
    TRY(server.Send(outgoing));
    outgoing.clear();
    const bool over = MillisecondsSince(start) > seconds * 1000;
    TRY(server.ReceiveLines([&](std::string_view line) {
      const std::size_t id = AnsweredId(line);
      if (id < kFirstId || id - kFirstId >= sent.size()) return;
      milliseconds.push_back(MillisecondsSince(sent[id - kFirstId]));
      if (!over) ask();
    }));
  }
  Report(milliseconds, MillisecondsSince(start) / 1000);
  return {};
}

Status First(int rounds, const std::string& request, const std::vector<std::string>& command) {
  std::vector<double> milliseconds;
  const Clock::time_point all = Clock::now();
  for (int round = 0; round < rounds; ++round) {
    const Clock::time_point start = Clock::now();
    Server server = TRY(Server::Start(command));
    TRY(server.Send(WithId(request, 1)));
    bool answered = false;
    while (!answered) {
      TRY(server.ReceiveLines([&](std::string_view line) { answered |= AnsweredId(line) == 1; }));
    }
    milliseconds.push_back(MillisecondsSince(start));
  }
  Report(milliseconds, MillisecondsSince(all) / 1000);
  return {};
}

Status Run(const std::vector<std::string>& words) {
  const auto split = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), split);
  const std::vector<std::string> command(split == words.end() ? split : split + 1, words.end());
  if (!command.empty() && own.size() == 5 && own[0] == "load") {
    return Load(std::atof(own[1].c_str()), std::strtoul(own[2].c_str(), nullptr, 10),
                TRY(ReadText(own[3])), TRY(ReadText(own[4])), command);
  }
  if (!command.empty() && own.size() == 3 && own[0] == "first") {
    return First(std::atoi(own[1].c_str()), TRY(ReadText(own[2])), command);
  }
  return Error(Errc::kInvalidArgument, "wrong usage; see the head of drive_stdio.cc");
}

}  // namespace
}  // namespace glovebox

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const glovebox::Status done = glovebox::Run({argv + 1, argv + argc});
    if (done) return 0;
    std::fprintf(stderr, "drive_stdio: %s\n", done.error().message().c_str());
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "drive_stdio: %s\n", exception.what());
  }
  return 1;
}

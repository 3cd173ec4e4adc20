// Loads an MCP server on its standard input and output, or times its first answer.
//
//   drive_stdio load SECONDS IN_FLIGHT PREPARE REQUEST -- SERVER ARGUMENT...
//   drive_stdio first ROUNDS REQUEST -- SERVER ARGUMENT...
//
// PREPARE is a file of lines sent first, one answered line awaited for each that has an id; REQUEST
// a file of one line in which @ID@ stands for the id. Prints one JSON object.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "percentile.h"
#include "piped_program.h"

namespace glovebox::bench {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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

void Report(const std::vector<double>& milliseconds, double seconds) {
  std::printf("{\"requests\":%zu,\"seconds\":%.3f,\"rps\":%.1f,\"p50_ms\":%.4f,\"p99_ms\":%.4f}\n",
              milliseconds.size(), seconds, static_cast<double>(milliseconds.size()) / seconds,
              Percentile(milliseconds, 0.5), Percentile(milliseconds, 0.99));
}

Status Prepare(PipedProgram& server, const std::string& lines) {
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
  PipedProgram server = TRY(PipedProgram::Start(command));
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
    PipedProgram server = TRY(PipedProgram::Start(command));
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
}  // namespace glovebox::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const glovebox::Status done = glovebox::bench::Run({argv + 1, argv + argc});
    if (done) return 0;
    std::fprintf(stderr, "drive_stdio: %s\n", done.error().message().c_str());
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "drive_stdio: %s\n", exception.what());
  }
  return 1;
}

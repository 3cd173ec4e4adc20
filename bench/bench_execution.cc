// What one execution of print(2+2) costs, every way this machine offers it, interleaved.

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/result.h"
#include "executor/local_executor.h"

namespace glovebox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kCode[] = "print(2+2)";

struct Row {
  std::string name;
  std::string isolation;
  std::function<Status()> once;
  std::vector<double> milliseconds;
};

// Starts a program with its output going nowhere and waits for its end.
Status RunProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Error::FromErrno("starting " + arguments[0], error);
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) {
    return Error(Errc::kSystem, arguments[0] + " did not end with 0");
  }
  return {};
}

// One request through a warm executor: the zygote is there, the box is not.
Status RunInExecutor(boost::asio::io_context& context, Executor& executor) {
  ExecutionRequest request;
  request.code = kCode;
  std::optional<Outcome> outcome;
  const auto execution = executor.Start(std::move(request), nullptr, [&](Outcome arrived) {
    outcome = std::move(arrived);
    context.stop();
  });
  context.restart();
  context.run();
  if (!outcome || outcome->stdout_stream.text != "4\n") {
    return Error(Errc::kInternal, outcome ? outcome->message : "no outcome");
  }
  return {};
}

double Percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

Status Measure(std::vector<Row>& rows, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) {
      const Clock::time_point start = Clock::now();
      TRY(row.once());
      row.milliseconds.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    if (round % 25 == 0) std::fprintf(stderr, "\rround %d of %d", round, rounds);
  }
  std::fprintf(stderr, "\r\033[K");
  return {};
}

void Report(const std::vector<Row>& rows, const std::string& path) {
  boost::json::array document;
  const double baseline = Percentile(rows.front().milliseconds, 0.5);
  std::printf("%-34s %10s %10s %9s  %s\n", "print(2+2)", "p50 ms", "p99 ms", "x bare", "isolation");
  for (const Row& row : rows) {
    const double p50 = Percentile(row.milliseconds, 0.5);
    const double p99 = Percentile(row.milliseconds, 0.99);
    std::printf("%-34s %10.3f %10.3f %9.3f  %s\n", row.name.c_str(), p50, p99, p50 / baseline,
                row.isolation.c_str());
    document.push_back({{"name", row.name},
                        {"isolation", row.isolation},
                        {"runs", row.milliseconds.size()},
                        {"p50_ms", p50},
                        {"p99_ms", p99},
                        {"ratio_to_bare_python", p50 / baseline}});
  }
  std::ofstream(path) << boost::json::serialize(boost::json::object{{"rows", document}}) << "\n";
  std::printf("\n%s\n", path.c_str());
}

int Main(const std::string& glovebox, const std::string& results, int rounds) {
  boost::asio::io_context context(1);
  Result<std::unique_ptr<Executor>> executor =
      CreateLocalExecutor(context, {.zygote_program = glovebox + "-python"});
  if (!executor) {
    std::fprintf(stderr, "bench: %s\n", executor.error().message().c_str());
    return 1;
  }
  std::vector<Row> rows;
  rows.push_back({"bare python3 -I -S",
                  "none",
                  [] {
                    return RunProgram({"/usr/bin/python3", "-I", "-S", "-c", kCode});
                  },
                  {}});
  if (::access("/usr/bin/bwrap", X_OK) == 0) {
    rows.push_back({"bubblewrap",
                    "namespaces, no limits, no filter",
                    [] {
                      return RunProgram({"/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/", "/",
                                         "--", "/usr/bin/python3", "-I", "-S", "-c", kCode});
                    },
                    {}});
  }
  rows.push_back({"glovebox exec (cold)",
                  "every wall",
                  [&] {
                    return RunProgram({glovebox, "exec", "-c", kCode});
                  },
                  {}});
  rows.push_back({"executor (warm zygote, new box)",
                  "every wall",
                  [&] { return RunInExecutor(context, **executor); },
                  {}});
  if (Status measured = Measure(rows, rounds); !measured) {
    std::fprintf(stderr, "bench: %s\n", measured.error().message().c_str());
    return 1;
  }
  Report(rows, results);
  return 0;
}

}  // namespace
}  // namespace glovebox

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_execution GLOVEBOX RESULTS.json ROUNDS\n");
    return 2;
  }
  try {
    return glovebox::Main(argv[1], argv[2], std::atoi(argv[3]));
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "bench_execution: %s\n", exception.what());
    return 1;
  }
}

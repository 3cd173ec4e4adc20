#include "throughput.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace glovebox::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSliceSeconds = 0.5;

int InFlight() { return 2 * static_cast<int>(std::thread::hardware_concurrency()); }

// Clients that wait for their answers, each in a thread of its own.
Result<double> LoadPythonServer(const PythonServer& server, const Workload& workload) {
  std::atomic<int> done = 0;
  std::atomic<bool> failed = false;
  const Clock::time_point start = Clock::now();
  const auto end = start + std::chrono::duration<double>(kSliceSeconds);
  std::vector<std::thread> clients;
  for (int i = 0; i < InFlight(); ++i) {
    clients.emplace_back([&] {
      while (Clock::now() < end && !failed) {
        if (!server.Run(workload)) failed = true;
        ++done;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  if (failed) return Error(Errc::kSystem, "the fork server failed under load");
  return done / std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Result<std::vector<ThroughputRow>> MeasureThroughput(const WarmServices& services, int slices) {
  std::vector<ThroughputRow> rows = {{"fork server, no walls", &kPrint},
                                     {"glovebox executor", &kPrint},
                                     {"fork server, no walls", &kFrame},
                                     {"glovebox executor", &kFrame}};
  for (int slice = 0; slice < slices; ++slice) {
    std::fprintf(stderr, "\rthroughput, slice %d of %d ", slice, slices);
    rows[0].per_second.push_back(TRY(LoadPythonServer(*services.forks, kPrint)));
    rows[1].per_second.push_back(TRY(services.executor->RunsPerSecond(kSliceSeconds, InFlight())));
    rows[2].per_second.push_back(TRY(LoadPythonServer(*services.forks_science, kFrame)));
    rows[3].per_second.push_back(
        TRY(services.executor_science->RunsPerSecond(kSliceSeconds, InFlight())));
  }
  std::fprintf(stderr, "\r\033[K");
  return rows;
}

}  // namespace glovebox::bench

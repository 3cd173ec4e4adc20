#include "row.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace glovebox::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRest{20};
constexpr int kWarmUps = 3;  // first calls fill caches that a running service has filled

}  // namespace

void Rows::AddPeer(Row row) {
  const Status done = row.once();
  if (done) {
    rows_.push_back(std::move(row));
  } else {
    absent_.push_back({row.name, row.workload->name, done.error().message()});
  }
}

Status Rows::Measure(int rounds) {
  for (const Row& row : rows_) {
    for (int i = 0; i < (row.every == 1 ? kWarmUps : 1); ++i) TRY(row.once());
  }
  for (int round = 0; round < rounds; ++round) {
    if (round % 10 == 0) std::fprintf(stderr, "\rround %d of %d ", round, rounds);
    for (Row& row : rows_) {
      if (round % row.every != 0) continue;
      // Servers make new boxes after their calls; nobody else's row pays for that.
      std::this_thread::sleep_for(kRest);
      const Clock::time_point start = Clock::now();
      if (const Status done = row.once(); !done) {
        return Error(Errc::kSystem, row.name + ": " + done.error().message());
      }
      row.milliseconds.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      if (row.after) row.after();
    }
  }
  std::fprintf(stderr, "\r\033[K");
  return {};
}

}  // namespace glovebox::bench

#include "row.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <utility>

namespace glovebox::bench {
namespace {

using Clock = std::chrono::steady_clock;

// In which servers make the boxes of their next turn; nobody else's row pays for that.
constexpr std::chrono::milliseconds kRest{60};
constexpr int kWarmUps = 3;  // first calls fill caches that a running service has filled

Result<double> Time(const Row& row) {
  const Clock::time_point start = Clock::now();
  if (const Status done = row.once(); !done) {
    return Error(Errc::kSystem, row.name + ": " + done.error().message());
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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
      std::this_thread::sleep_for(kRest);
      for (int call = 0; call < row.calls; ++call) row.milliseconds.push_back(TRY(Time(row)));
      const std::size_t first = row.milliseconds.size() - static_cast<std::size_t>(row.calls);
      row.rested_milliseconds.push_back(row.milliseconds[first]);
      if (row.after) row.after();
    }
  }
  std::fprintf(stderr, "\r\033[K");
  return {};
}

}  // namespace glovebox::bench

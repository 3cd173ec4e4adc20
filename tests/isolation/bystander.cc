#include "bystander.h"

#include "audit/witness.h"

namespace glovebox::isolation {
namespace {

constexpr int kBeatTimeoutMs = 5'000;

constexpr char kCode[] = R"(
import os, signal, time
heard = []
for number in signal.valid_signals():
    try:
        signal.signal(number, lambda number, frame: heard.append(number))
    except (OSError, ValueError):
        pass
names = ["/tmp/mine", "/work/mine", "/dev/shm/mine"]
for name in names:
    open(name, "w").write("mine")
while True:
    changed = any(open(name).read() != "mine" for name in names)
    if heard or changed or os.listdir("/tmp") != ["mine"]:
        print("DISTURBED", heard, flush=True)
    print(".", end="", flush=True)
    time.sleep(0.01)
)";

}  // namespace

Bystander::Bystander(BoxRunner& runner) : runner_(runner) {}

bool Bystander::Start(Executor& executor) {
  ExecutionRequest request;
  request.code = kCode;
  request.limits.wall_ms_max = 60'000;
  execution_ = executor.Start(std::move(request), &beats_, [answer = outcome_](Outcome outcome) {
    *answer = std::move(outcome);
  });
  return runner_.RunUntil([&] { return !beats_.text.empty() || outcome_->has_value(); },
                          kBeatTimeoutMs) &&
         !outcome_->has_value();
}

std::string Bystander::Finish() {
  const std::size_t beats = beats_.text.size();
  const bool alive = runner_.RunUntil(
      [&] { return beats_.text.size() > beats + 2 || outcome_->has_value(); }, kBeatTimeoutMs);
  std::string problem;
  if (outcome_->has_value()) {
    problem = "it ended by itself";
  } else if (!alive) {
    problem = "it stopped beating";
  }
  execution_->Cancel();
  if (!runner_.RunUntil([&] { return outcome_->has_value(); }, kBeatTimeoutMs)) {
    return problem + " and did not end when cancelled";
  }
  if (beats_.text.find("DISTURBED") != std::string::npos) problem += " it was disturbed";
  if ((*outcome_)->status != ExecutionStatus::kCancelled) problem += " it was not cancelled";
  return problem.empty() ? problem : problem + ": " + Summary(**outcome_);
}

}  // namespace glovebox::isolation

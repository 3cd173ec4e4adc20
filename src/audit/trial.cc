#include "audit/trial.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "audit/cage.h"
#include "audit/program.h"
#include "audit/witness.h"

namespace glovebox::audit {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kTickMs = 4;
constexpr milliseconds kFirstTimeMax{4'000};
constexpr milliseconds kHeadStart{150};  // of a program that another one looks for
constexpr std::uint64_t kRoomFactor = 3;

// What stands between the marks that a plain program prints around its answer.
std::optional<std::string> AnswerIn(const std::string& output) {
  constexpr std::string_view kBegin = "answer-";
  constexpr std::string_view kEnd = "-answer";
  const std::size_t begin = output.find(kBegin);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t end = output.find(kEnd, begin + kBegin.size());
  if (end == std::string::npos) return std::nullopt;
  std::string text;
  for (std::size_t i = begin + kBegin.size(); i + 1 < end; i += 2) {
    const std::string digits = output.substr(i, 2);
    text += static_cast<char>(std::strtoul(digits.c_str(), nullptr, 16));
  }
  return text;
}

std::uint64_t AvailableBytes() {
  const std::string text = FileText("/proc/meminfo");
  const std::size_t at = text.find("MemAvailable:");
  unsigned long long kilobytes = 0;
  if (at == std::string::npos ||
      std::sscanf(text.c_str() + at, "MemAvailable: %llu", &kilobytes) != 1) {
    return 0;
  }
  return kilobytes << 10;
}

}  // namespace

Trial Try(const Probe& probe, Scene& scene, Target& target) {
  Observation observation(scene, probe.name, probe.witness);
  const auto turn_until = [&](const auto& done, milliseconds time) {
    const Clock::time_point end = Clock::now() + time;
    while (!done() && Clock::now() < end) {
      target.Turn(kTickMs);
      observation.Tick();
    }
  };
  std::unique_ptr<RunningProgram> first;
  if (probe.is(kAfterFirst) || probe.is(kBesideFirst)) {
    first = target.Start(FirstProgramText(probe, observation.FirstGlobals()));
    const bool to_the_end = probe.is(kAfterFirst);
    turn_until([&] { return first->attempt() != nullptr; },
               to_the_end ? kFirstTimeMax : kHeadStart);
    if (to_the_end) first.reset();
  }
  const std::unique_ptr<RunningProgram> program =
      target.Start(ProgramText(probe, observation.Globals()));
  // Every target bounds the time of its programs.
  while (program->attempt() == nullptr) {
    target.Turn(kTickMs);
    observation.Tick();
  }
  const Attempt attempt = *program->attempt();
  Trial trial;
  if (!attempt.ran) {
    trial.skipped = attempt.problem.empty() ? "the target could not run it" : attempt.problem;
    return trial;
  }
  trial.effect = observation.Effect(
      attempt.output, [&](const auto& done, int time) { turn_until(done, milliseconds(time)); });
  trial.answer = AnswerIn(attempt.output);
  if (probe.witness == Witness::kAnswer && trial.answer) trial.effect = *trial.answer;
  trial.problem = attempt.problem;
  if (!attempt.ended && !trial.effect) trial.skipped = attempt.problem;
  return trial;
}

std::string ReasonToSkip(const Probe& probe) {
  if (probe.is(kHurtsHost)) return "not run where it could disturb the host";
  if (probe.is(kManyBytes) && AvailableBytes() < kRoomFactor * kFarWantedBytes) {
    return "not run: too little free memory on this host";
  }
  return {};
}

}  // namespace glovebox::audit

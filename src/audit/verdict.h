#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/attribution.h"
#include "audit/probe.h"
#include "audit/trial.h"

namespace glovebox::audit {

// What the two trials of a probe together say.
enum class Verdict : std::uint8_t {
  kIsolated,     // it happens on the host and not at the target
  kBothFailed,   // it happens nowhere: this proves nothing
  kPartial,      // it works at the target, and what it finds is not the host's
  kNotIsolated,  // it happens at the target as on the host
  kAllowed,      // it happens, and policy allows it
  kUnexpected,   // it happens at the target, and not even on the host
  kUntestable,   // it could not be tried, or nothing shows that it could have happened
  kCount,
};
inline constexpr std::size_t kVerdictCount = static_cast<std::size_t>(Verdict::kCount);
std::string_view VerdictName(Verdict verdict);   // "properly_isolated"
std::string_view VerdictTitle(Verdict verdict);  // "Properly isolated"
std::string_view VerdictSign(Verdict verdict);   // the tutorial's, before its title

// One probe, on the host and at the target, and what is known of the walls.
struct Finding {
  const Probe* probe = nullptr;
  Trial direct = {};
  Trial target = {};
  std::optional<WallTrials> walls = {};
  Verdict verdict = Verdict::kUntestable;
  std::string reason = {};  // for people: what was seen, or why it could not be tried

  // What policy forbids succeeded.
  bool weakness() const {
    return verdict == Verdict::kNotIsolated || verdict == Verdict::kUnexpected;
  }
};

// Fills verdict and reason. `allowed`: the target's policy grants what the probe does.
void Judge(Finding& finding, bool allowed);

// How many findings have which verdict.
struct Figures {
  std::array<std::size_t, kVerdictCount> counts = {};

  void Add(const Finding& finding) { ++counts.at(static_cast<std::size_t>(finding.verdict)); }
  std::size_t count(Verdict verdict) const { return counts.at(static_cast<std::size_t>(verdict)); }
  // Those that say something: vacuous, allowed and untestable ones do not.
  std::size_t telling() const;
  // Percent of those that are properly isolated; nothing when none says anything.
  std::optional<double> effectiveness() const;
};

Figures FiguresOf(const std::vector<Finding>& findings);
Figures FiguresOf(const std::vector<Finding>& findings, Family family);

}  // namespace glovebox::audit

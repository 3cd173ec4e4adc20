#include "audit/verdict.h"

namespace glovebox::audit {
namespace {

struct VerdictWords {
  std::string_view name;
  std::string_view title;
  std::string_view sign;
};

constexpr std::array<VerdictWords, kVerdictCount> kWords = {{
    {"properly_isolated", "Properly isolated", "\u2705"},
    {"both_failed", "Both failed", "\u2796"},
    {"partial_isolation", "Partial isolation", "\u26a0\ufe0f"},
    {"not_isolated", "Not isolated", "\u274c"},
    {"allowed_by_policy", "Allowed by policy", "\U0001f4dc"},
    {"unexpected", "Unexpected", "\u2753"},
    {"untestable", "Untestable", "\U0001f6ab"},
}};

// An answer that says nothing, such as an empty list of names.
bool IsEmptyAnswer(const Finding& finding) {
  return finding.probe->witness == Witness::kAnswer && finding.direct.effect == "[]";
}

void Say(Finding& finding, Verdict verdict, std::string reason) {
  finding.verdict = verdict;
  finding.reason = std::move(reason);
}

void JudgeHappened(Finding& finding, bool allowed) {
  const std::string& effect = *finding.target.effect;
  if (allowed) return Say(finding, Verdict::kAllowed, "allowed: " + effect);
  if (finding.probe->witness != Witness::kAnswer) {
    const bool unexpected = finding.direct.ran() && !finding.direct.effect;
    return Say(finding, unexpected ? Verdict::kUnexpected : Verdict::kNotIsolated, effect);
  }
  if (!finding.direct.effect) return Say(finding, Verdict::kUnexpected, effect);
  if (*finding.direct.effect == effect) {
    return Say(finding, Verdict::kNotIsolated, "the same answer as on the host: " + effect);
  }
  Say(finding, Verdict::kPartial, "an answer of its own: " + effect);
}

void JudgeStopped(Finding& finding) {
  const bool control = finding.walls && finding.walls->bare == Held::kNo;
  const std::string& why = finding.target.problem;
  if (finding.direct.effect && !IsEmptyAnswer(finding)) {
    std::string seen = why.empty() ? "no effect outside" : why;
    if (finding.target.answer) seen = "it worked on something of its own; no effect outside";
    return Say(finding, Verdict::kIsolated, std::move(seen));
  }
  if (control) {
    return Say(finding, Verdict::kIsolated,
               std::string("without any wall it happens (in the cage)") +
                   (why.empty() ? "" : "; here: " + why));
  }
  if (!finding.direct.ran() && !finding.walls) {
    return Say(finding, Verdict::kUntestable, finding.direct.skipped);
  }
  Say(finding, Verdict::kBothFailed,
      finding.direct.problem.empty() ? "no effect on the host either"
                                     : "on the host: " + finding.direct.problem);
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  return kWords.at(static_cast<std::size_t>(verdict)).name;
}
std::string_view VerdictTitle(Verdict verdict) {
  return kWords.at(static_cast<std::size_t>(verdict)).title;
}
std::string_view VerdictSign(Verdict verdict) {
  return kWords.at(static_cast<std::size_t>(verdict)).sign;
}

void Judge(Finding& finding, bool allowed) {
  if (!finding.target.ran()) return Say(finding, Verdict::kUntestable, finding.target.skipped);
  if (finding.target.effect) return JudgeHappened(finding, allowed || finding.probe->is(kNoEffect));
  JudgeStopped(finding);
}

std::size_t Figures::telling() const {
  return count(Verdict::kIsolated) + count(Verdict::kPartial) + count(Verdict::kNotIsolated) +
         count(Verdict::kUnexpected);
}

std::optional<double> Figures::effectiveness() const {
  if (telling() == 0) return std::nullopt;
  return 100.0 * static_cast<double>(count(Verdict::kIsolated)) / static_cast<double>(telling());
}

Figures FiguresOf(const std::vector<Finding>& findings) {
  Figures figures;
  for (const Finding& finding : findings) figures.Add(finding);
  return figures;
}

Figures FiguresOf(const std::vector<Finding>& findings, Family family) {
  Figures figures;
  for (const Finding& finding : findings) {
    if (finding.probe->family == family) figures.Add(finding);
  }
  return figures;
}

}  // namespace glovebox::audit

#include <algorithm>
#include <bit>
#include <cstdio>

#include "audit/report.h"

namespace glovebox::audit {
namespace {

using sandbox::kWallCount;
using sandbox::WallMask;

// What a program or a server said, for the cell of a table.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text.substr(0, 160)) {
    if (c == '|' || c == '`' || c == '<' || c == '\\') cell += '\\';
    cell += c == '\n' || c == '\r' ? ' ' : c;
  }
  return cell + (text.size() > 160 ? "..." : "");
}

std::string TrialCell(const Trial& trial) {
  const std::string word(TrialWord(trial));
  if (!trial.ran()) return word;
  return (trial.effect ? "\u2705 " : "\u274c ") + word;
}

std::string Statement(const Report& report) {
  const std::size_t weak = report.Weaknesses().size();
  const Figures figures = FiguresOf(report.findings);
  std::string text =
      weak == 0 ? "**Nothing that policy forbids succeeded.**"
                : "**" + std::to_string(weak) + " operation(s) that policy forbids succeeded.**";
  text += " Isolation effectiveness: **" + PercentText(figures) + "** (" +
          std::to_string(figures.count(Verdict::kIsolated)) + " of " +
          std::to_string(figures.telling()) + " probes that say something).";
  return text;
}

void AddHead(const Report& report, std::string& text) {
  text += "# Sandbox Isolation Comparison Report\n\n## Summary\n\n" + Statement(report) + "\n\n";
  text +=
      "The same " + std::to_string(report.findings.size()) +
      " operations were attempted directly on the host and at the target. Each effect was looked "
      "for from outside: canary files, listeners, a victim process, markers.\n\n";
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f", report.seconds);
  text += "| | |\n| --- | --- |\n";
  text += "| Target | " + Cell(report.target) + " |\n";
  text += "| Host | " + Cell(report.host) + ", as " + report.user + " |\n";
  text += "| Time | " + report.time + ", took " + seconds + " s |\n";
  text += "| Glovebox | " + report.version + " |\n";
  for (const std::string& wall : report.missing_walls) {
    text += "| Missing wall | " + Cell(wall) + " |\n";
  }
}

void AddWeaknesses(const Report& report, std::string& text) {
  text += "\n## Potential Weaknesses\n\n";
  const std::vector<const Finding*> weak = report.Weaknesses();
  if (weak.empty()) text += "None: nothing that policy forbids succeeded.\n";
  for (const Finding* finding : weak) {
    const Probe& probe = *finding->probe;
    text += "- **" + std::string(probe.name) + "** (" +
            std::string(VerdictTitle(finding->verdict)) + "): untrusted code can " +
            std::string(FamilyThreat(probe.family)) + ". " + std::string(ProbeTitle(probe)) + ": " +
            Cell(finding->reason) + ". Seen by " + std::string(WitnessText(probe.witness)) + ".\n";
  }
  const std::vector<const Finding*> partial = report.With(Verdict::kPartial);
  if (!partial.empty()) {
    text += "\nPartial isolation, by design or not: look at what came out.\n\n";
    for (const Finding* finding : partial) {
      text += "- **" + std::string(finding->probe->name) + "**: " + Cell(finding->reason) + "\n";
    }
  }
}

void AddFigures(const Report& report, std::string& text) {
  text += "\n## Isolation Effectiveness\n\n| Family |";
  std::string rule = "| --- |";
  for (std::size_t i = 0; i < kVerdictCount; ++i) {
    text += " " + std::string(VerdictTitle(static_cast<Verdict>(i))) + " |";
    rule += " ---: |";
  }
  text += " Effectiveness |\n" + rule + " ---: |\n";
  const auto row = [&](std::string_view name, const Figures& figures) {
    text += "| " + std::string(name) + " |";
    for (const std::size_t count : figures.counts) text += " " + std::to_string(count) + " |";
    text += " " + PercentText(figures) + " |\n";
  };
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    const Figures figures = FiguresOf(report.findings, family);
    if (std::any_of(figures.counts.begin(), figures.counts.end(), [](auto n) { return n > 0; })) {
      row(FamilyTitle(family), figures);
    }
  }
  row("**All**", FiguresOf(report.findings));
  text +=
      "\nEffectiveness is the share of *properly isolated* among the probes that say something. "
      "*Both failed* proves nothing, *untestable* was not shown, *allowed by policy* is meant "
      "to work: none of them counts as a success.\n";
}

void AddTables(const Report& report, std::string& text) {
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    std::string rows;
    for (const Finding& finding : report.findings) {
      if (finding.probe->family != family) continue;
      rows += "| " + ProbeHeading(finding.probe->name) + " | " + TrialCell(finding.direct) + " | " +
              TrialCell(finding.target) + " | " + std::string(VerdictSign(finding.verdict)) + " " +
              std::string(VerdictTitle(finding.verdict)) + " | " + Cell(finding.reason) + " |\n";
    }
    if (rows.empty()) continue;
    text +=
        "\n## " + std::string(FamilyTitle(family)) +
        " Tests\n\n| Test | Direct Execution | MCP Sandbox | Isolation Status | What was seen |\n"
        "| ---- | ---------------- | ----------- | ---------------- | ------------- |\n" +
        rows;
  }
}

std::string_view HeldSign(Held held) {
  switch (held) {
    case Held::kYes: return "held";
    case Held::kNo: return "-";
    case Held::kNoBox: return "no box";
    case Held::kUnknown: return "?";
  }
  return "";
}

void AddMatrix(const Report& report, std::string& text) {
  text += "\n## Which Wall Stops What\n\n";
  if (!report.no_attribution.empty()) {
    text += "Not measured: " + Cell(report.no_attribution) + ".\n";
    return;
  }
  text +=
      "Every probe again, in boxes with a single wall. *held*: this wall stops it alone; "
      "*?*: not asked, as walls that bound no amounts about limits. "
      "*Holders* counts them, without the interpreter, which is friction and no boundary; *lost "
      "without* names walls whose absence lets it happen.\n\n";
  text += "| Probe | Holders |";
  std::string rule = "| --- | ---: |";
  for (unsigned i = 0; i < kWallCount; ++i) {
    text += " " + sandbox::WallNames(WallMask{1} << i) + " |";
    rule += " --- |";
  }
  text += " Lost without |\n" + rule + " --- |\n";
  for (const Finding& finding : report.findings) {
    if (!finding.walls || finding.walls->bare != Held::kNo) continue;
    std::string cells;
    std::string lost;
    const int holders = std::popcount(finding.walls->holders());
    for (unsigned i = 0; i < kWallCount; ++i) {
      cells += " " + std::string(HeldSign(finding.walls->alone.at(i))) + " |";
      if (finding.walls->without.at(i) == Held::kNo) {
        lost += (lost.empty() ? "" : ", ") + sandbox::WallNames(WallMask{1} << i);
      }
    }
    text += "| " + std::string(finding.probe->name) + " | " + std::to_string(holders) + " |" +
            cells + " " + lost + " |\n";
  }
  const std::vector<const Finding*> single = report.HeldByOne();
  text += "\n### Held by One Wall Only\n\n";
  if (single.empty())
    text += "None: every probe that was stopped is stopped by two walls or more.\n";
  for (const Finding* finding : single) {
    text += "- **" + std::string(finding->probe->name) + "**: " + HolderText(*finding) + "\n";
  }
}

}  // namespace

std::string ReportMarkdown(const Report& report) {
  std::string text;
  AddHead(report, text);
  AddWeaknesses(report, text);
  AddFigures(report, text);
  AddTables(report, text);
  AddMatrix(report, text);
  text += "\n## Conclusion\n\n" + Statement(report) +
          "\n\nOperations that succeeded in direct execution but failed at the target indicate "
          "proper isolation. What failed in both proves nothing.\n";
  return text;
}

}  // namespace glovebox::audit

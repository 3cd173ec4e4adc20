#include <algorithm>
#include <bit>
#include <cstdio>

#include "audit/markup.h"
#include "audit/report.h"
#include "embedded/audit_page.h"

namespace glovebox::audit {
namespace {

using sandbox::kWallCount;
using sandbox::WallMask;

// The class that colours a verdict.
std::string Tone(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIsolated: return "good";
    case Verdict::kPartial: return "warn";
    case Verdict::kNotIsolated:
    case Verdict::kUnexpected: return "bad";
    case Verdict::kAllowed: return "info";
    case Verdict::kBothFailed:
    case Verdict::kUntestable:
    case Verdict::kCount: break;
  }
  return "none";
}

std::string Code(std::string_view text) { return "<code>" + Escaped(text) + "</code>"; }

void AddCard(std::string_view tone, const std::string& figure, std::string_view caption,
             std::string& page) {
  page += "<div class=\"card\"><b class=\"" + std::string(tone) + "\">" + figure + "</b>" +
          std::string(caption) + "</div>\n";
}

void AddHead(const Report& report, std::string& page) {
  const Figures figures = FiguresOf(report.findings);
  const std::size_t weak = report.Weaknesses().size();
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f", report.seconds);
  page += "<h1>Sandbox isolation report</h1>\n<p class=\"soft\">" + Escaped(report.target) +
          " on " + Escaped(report.host) + ", as " + Escaped(report.user) + "; " + report.time +
          ", " + seconds + " s; Glovebox " + Escaped(report.version) +
          "</p>\n<div class=\"cards\">\n";
  AddCard(weak == 0 ? "good" : "bad", std::to_string(weak), "forbidden operations succeeded", page);
  AddCard(weak == 0 ? "good" : "warn", PercentText(figures), "isolation effectiveness", page);
  for (const Verdict verdict : {Verdict::kIsolated, Verdict::kPartial, Verdict::kAllowed,
                                Verdict::kBothFailed, Verdict::kUntestable}) {
    AddCard(Tone(verdict), std::to_string(figures.count(verdict)), VerdictTitle(verdict), page);
  }
  page +=
      "</div>\n<p>The same " + std::to_string(report.findings.size()) +
      " operations were attempted directly on the host and at the target. Each effect was looked "
      "for from outside. What failed in both proves nothing and does not count as a "
      "success.</p>\n";
  for (const std::string& wall : report.missing_walls) {
    page += "<p class=\"weak\">Missing wall: " + Escaped(wall) + "</p>\n";
  }
}

void AddWeaknesses(const Report& report, std::string& page) {
  page += "<h2>Potential weaknesses</h2>\n";
  if (report.Weaknesses().empty()) {
    page += "<p class=\"good\">None: nothing that policy forbids succeeded.</p>\n";
  }
  for (const Finding* finding : report.Weaknesses()) {
    const Probe& probe = *finding->probe;
    page += "<div class=\"weak\">" + Code(probe.name) + " <b class=\"bad\">" +
            std::string(VerdictTitle(finding->verdict)) + "</b>: untrusted code can " +
            std::string(FamilyThreat(probe.family)) + ". " + Escaped(ProbeTitle(probe)) +
            ".<br><span class=\"soft\">" + Escaped(finding->reason) + "; seen by " +
            std::string(WitnessText(probe.witness)) + "</span></div>\n";
  }
}

void AddFigures(const Report& report, std::string& page) {
  page +=
      "<h2>Effectiveness by family</h2>\n<table><thead><tr><th>Family</th>"
      "<th>Probes</th><th class=\"n\">Isolated of telling</th><th class=\"n\">Effectiveness</th>"
      "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    const Figures figures = FiguresOf(report.findings, family);
    std::string bar;
    for (std::size_t v = 0; v < kVerdictCount; ++v) {
      const auto verdict = static_cast<Verdict>(v);
      if (figures.count(verdict) == 0) continue;
      const std::string count = std::to_string(figures.count(verdict));
      bar += "<span class=\"b-" + Tone(verdict) + "\" style=\"flex:" + count + "\" title=\"" +
             std::string(VerdictTitle(verdict)) + ": " + count + "\"></span>";
    }
    if (bar.empty()) continue;
    page += "<tr><td>" + std::string(FamilyTitle(family)) + "</td><td><div class=\"bar\">" + bar +
            "</div></td><td class=\"n\">" + std::to_string(figures.count(Verdict::kIsolated)) +
            " of " + std::to_string(figures.telling()) + "</td><td class=\"n\">" +
            PercentText(figures) + "</td></tr>\n";
  }
  page += "</tbody></table>\n";
}

std::string MatrixRow(const Finding& finding) {
  std::string row =
      "<tr><th class=\"row\"><code>" + std::string(finding.probe->name) + "</code></th>";
  const int holders = std::popcount(finding.walls->holders());
  for (unsigned i = 0; i < kWallCount; ++i) {
    const Held alone = finding.walls->alone.at(i);
    const bool lost = finding.walls->without.at(i) == Held::kNo;
    const char* sign = alone == Held::kYes ? "\u2713" : alone == Held::kNo ? "\u00b7" : "?";
    row += "<td class=\"c" + std::string(alone == Held::kYes ? " held" : "") +
           std::string(lost ? " lost" : "") + "\">" + sign + "</td>";
  }
  return row + "<td class=\"n" + std::string(holders == 1 ? " warn" : "") + "\">" +
         std::to_string(holders) + "</td></tr>\n";
}

void AddMatrix(const Report& report, std::string& page) {
  page += "<h2>Which wall stops what</h2>\n";
  if (!report.no_attribution.empty()) {
    page += "<p class=\"soft\">Not measured: " + Escaped(report.no_attribution) + ".</p>\n";
    return;
  }
  page +=
      "<p>Every probe again in boxes with a single wall: <b class=\"good\">\u2713</b> this wall "
      "stops it alone, \u00b7 it does not, ? was not asked. A red frame: without this wall, and "
      "with all others, "
      "it happens. The last column counts the walls that each stop it; the interpreter is friction "
      "and no "
      "boundary, and not counted.</p>\n"
      "<div class=\"scroll\"><table class=\"matrix\"><thead><tr><th class=\"row\"></th>";
  for (unsigned i = 0; i < kWallCount; ++i) {
    page += "<th><span>" + sandbox::WallNames(WallMask{1} << i) + "</span></th>";
  }
  page += "<th class=\"n\"><span>walls</span></th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    std::string rows;
    for (const Finding& finding : report.findings) {
      if (finding.probe->family != family || !finding.walls) continue;
      if (finding.walls->bare == Held::kNo && !finding.probe->is(kBesideFirst)) {
        rows += MatrixRow(finding);
      }
    }
    if (rows.empty()) continue;
    page += "<tr class=\"family\"><th class=\"row\" colspan=\"" + std::to_string(kWallCount + 2) +
            "\">" + std::string(FamilyTitle(family)) + "</th></tr>\n" + rows;
  }
  page += "</tbody></table></div>\n";
  const std::vector<const Finding*> single = report.HeldByOne();
  page += "<p>Held by one wall only: " + std::string(single.empty() ? "none." : "");
  for (const Finding* finding : single) {
    page +=
        Code(finding->probe->name) + " <span class=\"soft\">(" + HolderText(*finding) + ")</span> ";
  }
  page += "</p>\n";
}

void AddTables(const Report& report, std::string& page) {
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    std::string rows;
    for (const Finding& finding : report.findings) {
      if (finding.probe->family != family) continue;
      rows += "<tr><td>" + Code(finding.probe->name) + "<br><span class=\"soft\">" +
              Escaped(ProbeTitle(*finding.probe)) + "</span></td><td>" +
              std::string(TrialWord(finding.direct)) + "</td><td>" +
              std::string(TrialWord(finding.target)) + "</td><td class=\"" + Tone(finding.verdict) +
              "\">" + std::string(VerdictTitle(finding.verdict)) + "</td><td class=\"soft\">" +
              Escaped(finding.reason.substr(0, 300)) + "</td></tr>\n";
    }
    if (rows.empty()) continue;
    page += "<h2>" + std::string(FamilyTitle(family)) +
            "</h2>\n<table><thead><tr><th>Test</th><th>Direct execution</th><th>Sandbox</th>"
            "<th>Isolation status</th><th>What was seen</th></tr></thead><tbody>\n" +
            rows + "</tbody></table>\n";
  }
}

}  // namespace

std::string ReportHtml(const Report& report) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Sandbox isolation report</title>\n<style>\n";
  page += embedded::kAuditPageStyle;
  page += "</style>\n</head>\n<body>\n";
  AddHead(report, page);
  AddWeaknesses(report, page);
  AddFigures(report, page);
  AddMatrix(report, page);
  AddTables(report, page);
  return page + "</body>\n</html>\n";
}

}  // namespace glovebox::audit

#include <cstdio>

#include "audit/markup.h"
#include "audit/report.h"

namespace glovebox::audit {
namespace {

// Weaknesses fail; what proves nothing or could not be tried is skipped; the rest passes.
std::string TestCase(const Finding& finding) {
  const Probe& probe = *finding.probe;
  const std::string what =
      Escaped(std::string(VerdictTitle(finding.verdict)) + ": " + finding.reason);
  std::string text = "    <testcase classname=\"" + std::string(FamilyName(probe.family)) +
                     "\" name=\"" + std::string(probe.name) + "\">";
  if (finding.weakness()) {
    text += "<failure message=\"" + what + "\">" + Escaped(ProbeTitle(probe)) + "</failure>";
  } else if (finding.verdict == Verdict::kBothFailed || finding.verdict == Verdict::kUntestable) {
    text += "<skipped message=\"" + what + "\"/>";
  } else {
    text += "<system-out>" + what + "</system-out>";
  }
  return text + "</testcase>\n";
}

}  // namespace

std::string ReportJunit(const Report& report) {
  std::string suites;
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    const Figures figures = FiguresOf(report.findings, family);
    std::string cases;
    std::size_t tests = 0;
    for (const Finding& finding : report.findings) {
      if (finding.probe->family != family) continue;
      cases += TestCase(finding);
      ++tests;
    }
    if (tests == 0) continue;
    const std::size_t failures =
        figures.count(Verdict::kNotIsolated) + figures.count(Verdict::kUnexpected);
    const std::size_t skipped =
        figures.count(Verdict::kBothFailed) + figures.count(Verdict::kUntestable);
    suites += "  <testsuite name=\"" + std::string(FamilyName(family)) + "\" tests=\"" +
              std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
              "\" skipped=\"" + std::to_string(skipped) + "\" errors=\"0\" timestamp=\"" +
              report.time + "\">\n" + cases + "  </testsuite>\n";
  }
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.3f", report.seconds);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"glovebox audit: " +
         Escaped(report.target) + "\" tests=\"" + std::to_string(report.findings.size()) +
         "\" failures=\"" + std::to_string(report.Weaknesses().size()) + "\" time=\"" + seconds +
         "\">\n" + suites + "</testsuites>\n";
}

}  // namespace glovebox::audit

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "audit/verdict.h"

namespace glovebox::audit {

// Everything an audit found, as plain data. The formats below say the same.
struct Report {
  std::string version;  // of Glovebox
  std::string time;     // UTC, ISO 8601
  std::string host;     // "Linux 6.1.0 x86_64"
  std::string user;     // "root", "uid 1000"
  std::string target;   // Target::description()
  double seconds = 0;
  std::vector<std::string> missing_walls;  // of a box that is weaker than promised
  std::string no_attribution;              // why the walls were not told apart; empty: they were
  std::vector<Finding> findings;           // in the order of Probes()

  std::vector<const Finding*> With(Verdict verdict) const;
  // What policy forbids and succeeded.
  std::vector<const Finding*> Weaknesses() const;
  // Stopped, and by one wall only as far as single walls can tell.
  std::vector<const Finding*> HeldByOne() const;
};

// For people. Weaknesses first, figures, then the tutorial's table for each family.
std::string ReportMarkdown(const Report& report);
// One self-contained page: no script, nothing fetched; light, dark and printed.
std::string ReportHtml(const Report& report);
// For programs: the whole of it, and what --baseline reads.
boost::json::object ReportJson(const Report& report);
// For code scanning (SARIF 2.1.0) and for test displays (JUnit).
boost::json::object ReportSarif(const Report& report);
std::string ReportJunit(const Report& report);

// "read_etc_passwd" as the tutorial's tables have it: "Read Etc Passwd".
std::string ProbeHeading(std::string_view name);
// What happened in a few words: "Success", "Failed", "Not run".
std::string_view TrialWord(const Trial& trial);
// "92.3 %", or "-" when nothing is telling.
std::string PercentText(const Figures& figures);
// "seccomp, root"; empty when no wall stops it alone or nothing was measured.
std::string HolderText(const Finding& finding);

}  // namespace glovebox::audit

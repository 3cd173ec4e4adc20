#include "audit/report.h"

#include <bit>
#include <cctype>
#include <cstdio>

namespace glovebox::audit {

std::vector<const Finding*> Report::With(Verdict verdict) const {
  std::vector<const Finding*> found;
  for (const Finding& finding : findings) {
    if (finding.verdict == verdict) found.push_back(&finding);
  }
  return found;
}

std::vector<const Finding*> Report::Weaknesses() const {
  std::vector<const Finding*> found;
  for (const Finding& finding : findings) {
    if (finding.weakness()) found.push_back(&finding);
  }
  return found;
}

std::vector<const Finding*> Report::HeldByOne() const {
  std::vector<const Finding*> found;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::kIsolated || !finding.walls) continue;
    if (std::popcount(finding.walls->holders()) == 1) found.push_back(&finding);
  }
  return found;
}

std::string ProbeHeading(std::string_view name) {
  std::string text;
  bool start = true;
  for (const char c : name) {
    const char plain = c == '_' ? ' ' : c;
    text += start ? static_cast<char>(std::toupper(static_cast<unsigned char>(plain))) : plain;
    start = plain == ' ';
  }
  return text;
}

std::string_view TrialWord(const Trial& trial) {
  if (!trial.ran()) return "Not run";
  return trial.effect ? "Success" : "Failed";
}

std::string PercentText(const Figures& figures) {
  const std::optional<double> percent = figures.effectiveness();
  if (!percent) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", *percent);
  return text;
}

std::string HolderText(const Finding& finding) {
  if (!finding.walls) return {};
  std::string text;
  const sandbox::WallMask holders = finding.walls->holders();
  for (unsigned i = 0; i < sandbox::kWallCount; ++i) {
    const sandbox::WallMask bit = sandbox::WallMask{1} << i;
    if ((holders & bit) != 0) text += (text.empty() ? "" : ", ") + sandbox::WallNames(bit);
  }
  return text;
}

}  // namespace glovebox::audit

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "audit/report.h"

namespace glovebox::audit {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using sandbox::kWallCount;
using sandbox::WallMask;

object TrialJson(const Trial& trial) {
  object json;
  json["ran"] = trial.ran();
  json["success"] = trial.effect.has_value();
  json["effect"] = trial.effect ? value(*trial.effect) : value();
  json["answer"] = trial.answer ? value(*trial.answer) : value();
  json["problem"] = trial.problem;
  if (!trial.ran()) json["skipped"] = trial.skipped;
  return json;
}

value HeldJson(Held held) {
  switch (held) {
    case Held::kYes: return true;
    case Held::kNo: return false;
    case Held::kNoBox:
    case Held::kUnknown: break;
  }
  return nullptr;
}

object WallsJson(const Finding& finding) {
  const WallTrials& trials = *finding.walls;
  object alone;
  object without;
  array holders;
  for (unsigned i = 0; i < kWallCount; ++i) {
    const WallMask bit = WallMask{1} << i;
    const std::string name = sandbox::WallNames(bit);
    alone[name] = HeldJson(trials.alone.at(i));
    without[name] = HeldJson(trials.without.at(i));
    if ((trials.holders() & bit) != 0) holders.emplace_back(name);
  }
  object json;
  json["happens_without_walls"] = trials.bare == Held::kNo;
  json["held_by_each_alone"] = std::move(holders);
  json["alone"] = std::move(alone);
  json["without"] = std::move(without);
  return json;
}

object FiguresJson(const Figures& figures) {
  object json;
  for (std::size_t i = 0; i < kVerdictCount; ++i) {
    json[VerdictName(static_cast<Verdict>(i))] = figures.counts.at(i);
  }
  const std::optional<double> percent = figures.effectiveness();
  json["telling"] = figures.telling();
  json["effectiveness_percent"] = percent ? value(*percent) : value();
  return json;
}

object FindingJson(const Finding& finding) {
  const Probe& probe = *finding.probe;
  object json;
  json["name"] = probe.name;
  json["family"] = FamilyName(probe.family);
  json["title"] = ProbeTitle(probe);
  json["witness"] = WitnessText(probe.witness);
  json["verdict"] = VerdictName(finding.verdict);
  json["weakness"] = finding.weakness();
  json["reason"] = finding.reason;
  json["direct"] = TrialJson(finding.direct);
  json["target"] = TrialJson(finding.target);
  if (finding.walls) json["walls"] = WallsJson(finding);
  return json;
}

array Names(const std::vector<const Finding*>& findings) {
  array names;
  for (const Finding* finding : findings) names.emplace_back(finding->probe->name);
  return names;
}

}  // namespace

object ReportJson(const Report& report) {
  object json;
  json["glovebox_version"] = report.version;
  json["time"] = report.time;
  json["seconds"] = report.seconds;
  json["host"] = report.host;
  json["user"] = report.user;
  json["target"] = report.target;
  json["missing_walls"] = array(report.missing_walls.begin(), report.missing_walls.end());
  json["attribution"] = report.no_attribution.empty()
                            ? value("measured")
                            : value("not measured: " + report.no_attribution);
  json["weaknesses"] = Names(report.Weaknesses());
  json["held_by_one_wall"] = Names(report.HeldByOne());
  json["figures"] = FiguresJson(FiguresOf(report.findings));
  object families;
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    families[FamilyName(family)] = FiguresJson(FiguresOf(report.findings, family));
  }
  json["families"] = std::move(families);
  array probes;
  for (const Finding& finding : report.findings) probes.emplace_back(FindingJson(finding));
  json["probes"] = std::move(probes);
  return json;
}

}  // namespace glovebox::audit

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "audit/report.h"

namespace glovebox::audit {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

object Message(std::string_view text) {
  object json;
  json["text"] = text;
  return json;
}

object Rule(const Probe& probe) {
  object json;
  json["id"] = probe.name;
  json["name"] = probe.name;
  json["shortDescription"] = Message(ProbeTitle(probe));
  json["fullDescription"] = Message(
      "Where it succeeds, untrusted code can " + std::string(FamilyThreat(probe.family)) +
      ". The effect is looked for from outside: " + std::string(WitnessText(probe.witness)) + ".");
  object properties;
  properties["tags"] = array{"security", "isolation", value(FamilyName(probe.family))};
  json["properties"] = std::move(properties);
  return json;
}

// A probe has no line in somebody's source: its place is the operation at the target.
array Locations(const Report& report, const Probe& probe) {
  object logical;
  logical["name"] = probe.name;
  logical["fullyQualifiedName"] =
      report.target + "/" + std::string(FamilyName(probe.family)) + "/" + std::string(probe.name);
  logical["kind"] = "function";
  object location;
  location["logicalLocations"] = array{std::move(logical)};
  return array{std::move(location)};
}

object Finished(const Report& report, const Finding& finding, std::size_t rule) {
  object json;
  json["ruleId"] = finding.probe->name;
  json["ruleIndex"] = rule;
  const bool open = finding.verdict == Verdict::kUntestable;
  json["kind"] = finding.weakness()                                ? "fail"
                 : finding.verdict == Verdict::kIsolated           ? "pass"
                 : finding.verdict == Verdict::kPartial            ? "review"
                 : open || finding.verdict == Verdict::kBothFailed ? "open"
                                                                   : "informational";
  json["level"] = finding.weakness() ? "error" : "none";
  json["message"] = Message(std::string(VerdictTitle(finding.verdict)) + ": " + finding.reason);
  json["locations"] = Locations(report, *finding.probe);
  object fingerprint;
  fingerprint["probe/v1"] = finding.probe->name;
  json["partialFingerprints"] = std::move(fingerprint);
  return json;
}

}  // namespace

object ReportSarif(const Report& report) {
  array rules;
  array results;
  for (const Finding& finding : report.findings) {
    results.emplace_back(Finished(report, finding, rules.size()));
    rules.emplace_back(Rule(*finding.probe));
  }
  object driver;
  driver["name"] = "glovebox audit";
  driver["version"] = report.version;
  driver["rules"] = std::move(rules);
  object tool;
  tool["driver"] = std::move(driver);
  object run;
  run["tool"] = std::move(tool);
  run["results"] = std::move(results);
  object json;
  json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] = array{std::move(run)};
  return json;
}

}  // namespace glovebox::audit

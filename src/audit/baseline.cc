#include "audit/baseline.h"

#include <algorithm>
#include <map>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace glovebox::audit {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

// From proven to broken.
int Rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::kIsolated: return 0;
    case Verdict::kBothFailed:
    case Verdict::kUntestable: return 1;
    case Verdict::kPartial:
    case Verdict::kAllowed: return 2;
    case Verdict::kNotIsolated:
    case Verdict::kUnexpected:
    case Verdict::kCount: break;
  }
  return 3;
}

std::optional<Verdict> VerdictCalled(std::string_view name) {
  for (std::size_t i = 0; i < kVerdictCount; ++i) {
    if (VerdictName(static_cast<Verdict>(i)) == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

std::string TextIn(const object& json, std::string_view key) {
  const value* found = json.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// Walls that stopped the probe alone then and do not now.
std::string LostHolders(const object& before, const Finding& finding) {
  const value* walls = before.if_contains("walls");
  if (walls == nullptr || !walls->is_object() || !finding.walls) return {};
  const value* holders = walls->get_object().if_contains("held_by_each_alone");
  if (holders == nullptr || !holders->is_array()) return {};
  const std::string now = ", " + HolderText(finding) + ",";
  std::string lost;
  for (const value& holder : holders->get_array()) {
    if (!holder.is_string()) continue;
    const std::string name(holder.get_string());
    if (now.find(" " + name + ",") == std::string::npos) lost += (lost.empty() ? "" : ", ") + name;
  }
  return lost;
}

}  // namespace

Result<std::vector<std::string>> WorseThan(const object& baseline, const Report& report) {
  const value* probes = baseline.if_contains("probes");
  if (probes == nullptr || !probes->is_array()) {
    return Error(Errc::kInvalidArgument,
                 "the baseline is no JSON report of an audit: it has no array \"probes\"");
  }
  std::map<std::string_view, const Finding*> findings;
  for (const Finding& finding : report.findings) findings[finding.probe->name] = &finding;
  std::vector<std::string> worse;
  for (const value& item : probes->get_array()) {
    if (!item.is_object()) continue;
    const object& before = item.get_object();
    const std::string name = TextIn(before, "name");
    const std::optional<Verdict> verdict = VerdictCalled(TextIn(before, "verdict"));
    if (!verdict) continue;
    const auto found = findings.find(name);
    if (found == findings.end()) {
      worse.push_back(name + ": was " + std::string(VerdictName(*verdict)) +
                      ", is not tried any more");
      continue;
    }
    const Finding& finding = *found->second;
    if (Rank(finding.verdict) > Rank(*verdict)) {
      worse.push_back(name + ": was " + std::string(VerdictName(*verdict)) + ", is " +
                      std::string(VerdictName(finding.verdict)) + " (" + finding.reason + ")");
    }
    if (const std::string lost = LostHolders(before, finding); !lost.empty()) {
      worse.push_back(name + ": not stopped any more by " + lost + " alone");
    }
  }
  return worse;
}

}  // namespace glovebox::audit

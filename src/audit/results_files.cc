#include "audit/results_files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/file.h"
#include "mcp/json_writer.h"

namespace glovebox::audit {
namespace {

using boost::json::object;
using boost::json::value;

constexpr std::string_view kNotThere = " does not have it";

std::string FileName(Family family, ResultsOf which) {
  const std::string name =
      family == Family::kFileSystemAccess ? "file_access" : std::string(FamilyName(family));
  return name + (which == ResultsOf::kDirect ? "_results.json" : "_results_mcp.json");
}

object TestJson(const Trial& trial) {
  object json;
  json["success"] = trial.effect.has_value();
  json["result"] = trial.effect ? value(*trial.effect) : value();
  json["error"] = trial.effect || trial.problem.empty() ? value() : value(trial.problem);
  json["answer"] = trial.answer ? value(*trial.answer) : value();
  if (!trial.ran()) json["skipped"] = trial.skipped;
  return json;
}

std::string TextIn(const object& json, std::string_view key) {
  const value* found = json.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::optional<std::string> OptionalIn(const object& json, std::string_view key) {
  const value* found = json.if_contains(key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return std::string(found->get_string());
}

Result<object> ReadObject(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  if (!text) return Error::FromErrno("reading " + path, errno);
  boost::system::error_code error;
  value parsed = boost::json::parse(*text, error);
  if (error || !parsed.is_object()) {
    return Error(Errc::kInvalidArgument, path + " is not a JSON object");
  }
  return std::move(parsed.get_object());
}

Trial TrialIn(const object& tests, std::string_view name, const std::string& path) {
  Trial trial;
  const value* found = tests.if_contains(name);
  if (found == nullptr || !found->is_object()) {
    trial.skipped = path + std::string(kNotThere);
    return trial;
  }
  const object& json = found->get_object();
  trial.skipped = TextIn(json, "skipped");
  trial.effect = OptionalIn(json, "result");
  trial.answer = OptionalIn(json, "answer");
  trial.problem = TextIn(json, "error");
  return trial;
}

Status ReadFamily(const std::string& folder, Family family, ResultsOf which,
                  std::vector<Finding>& findings) {
  const std::string path = folder + "/" + FileName(family, which);
  const object json = TRY(ReadObject(path));
  const value* tests = json.if_contains("tests");
  if (tests == nullptr || !tests->is_object()) {
    return Error(Errc::kInvalidArgument, path + " has no object \"tests\"");
  }
  for (Finding& finding : findings) {
    if (finding.probe->family != family) continue;
    Trial& trial = which == ResultsOf::kDirect ? finding.direct : finding.target;
    trial = TrialIn(tests->get_object(), finding.probe->name, path);
  }
  return {};
}

}  // namespace

Status WriteResults(const std::string& folder, const Report& report, ResultsOf which) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error::FromErrno("making " + folder, error.value());
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const auto family = static_cast<Family>(i);
    object tests;
    for (const Finding& finding : report.findings) {
      if (finding.probe->family != family) continue;
      tests[finding.probe->name] =
          TestJson(which == ResultsOf::kDirect ? finding.direct : finding.target);
    }
    object json;
    json["test_name"] = FamilyName(family);
    json["environment"] = which == ResultsOf::kDirect ? "direct_execution" : "mcp_sandbox";
    json["target"] = which == ResultsOf::kDirect ? "direct execution" : report.target;
    json["tests"] = std::move(tests);
    const std::string path = folder + "/" + FileName(family, which);
    std::ofstream file(path, std::ios::trunc | std::ios::binary);
    file << mcp::WriteJson(json) << "\n";
    file.close();
    if (!file) return Error::FromErrno("writing " + path, errno);
  }
  return {};
}

Result<std::vector<Finding>> ReadResults(const std::string& folder) {
  std::vector<Finding> findings;
  for (const Probe& probe : Probes()) findings.push_back({.probe = &probe});
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    for (const ResultsOf which : {ResultsOf::kDirect, ResultsOf::kTarget}) {
      TRY(ReadFamily(folder, static_cast<Family>(i), which, findings));
    }
  }
  std::erase_if(findings, [](const Finding& finding) {
    return finding.direct.skipped.ends_with(kNotThere) &&
           finding.target.skipped.ends_with(kNotThere);
  });
  return findings;
}

std::string TargetInResults(const std::string& folder) {
  const Result<object> json =
      ReadObject(folder + "/" + FileName(Family::kFileSystemAccess, ResultsOf::kTarget));
  return json ? TextIn(*json, "target") : std::string();
}

}  // namespace glovebox::audit

#include "doctor/report_json.h"

#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace glovebox::doctor {
namespace {

namespace json = boost::json;

json::value TextOrNull(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::array Strings(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::array Walls(const std::vector<WallReport>& walls) {
  json::array array;
  for (const WallReport& wall : walls) {
    json::object object = {{"name", wall.name}, {"what", wall.what}, {"stands", wall.stands()}};
    if (wall.trouble) {
      object["reason"] = wall.trouble->reason;
      object["cause"] = TextOrNull(wall.trouble->cause);
      object["fix"] = wall.trouble->fix;
    }
    array.push_back(std::move(object));
  }
  return array;
}

json::object Cgroups(const CgroupReport& cgroups) {
  json::array controllers;
  for (const ControllerReport& controller : cgroups.controllers) {
    controllers.push_back({{"name", controller.name},
                           {"version", controller.version},
                           {"directory", controller.directory}});
  }
  return {{"layout", cgroups.layout}, {"controllers", std::move(controllers)}};
}

json::array Runtimes(const std::vector<ProgramReport>& runtimes) {
  json::array array;
  for (const ProgramReport& program : runtimes) {
    array.push_back({{"name", program.name},
                     {"path", TextOrNull(program.path)},
                     {"version", TextOrNull(program.version)}});
  }
  return array;
}

json::array Packages(const std::vector<PackageReport>& packages) {
  json::array array;
  for (const PackageReport& package : packages) {
    array.push_back({{"module", package.module},
                     {"debian", package.debian},
                     {"installed", !package.version.empty()},
                     {"version", TextOrNull(package.version)}});
  }
  return array;
}

json::object Box(const BoxReport& box) {
  json::object object = {{"ran", box.ran}, {"code", TextOrNull(box.code)}};
  if (box.ran) object["allow_degraded"] = box.degraded;
  if (box.ran) {
    object["output"] = box.output;
    object["start_seconds"] = box.start_seconds;
    object["run_seconds"] = box.run_seconds;
    object["missing_walls"] = Strings(box.missing_walls);
  } else {
    object["reason"] = box.reason;
  }
  return object;
}

json::object Container(const ContainerReport& container) {
  json::object object = {{"ran", container.ran}, {"runtime", TextOrNull(container.runtime)}};
  if (container.ran) {
    object["start_seconds"] = container.start_seconds;
    object["run_seconds"] = container.run_seconds;
  } else {
    object["reason"] = TextOrNull(container.reason);
  }
  return object;
}

const char* StrengthName(Strength strength) {
  switch (strength) {
    case Strength::kFull: return "full";
    case Strength::kDegraded: return "degraded";
    case Strength::kNone: return "none";
  }
  return "none";
}

}  // namespace

json::object ReportJson(const HostReport& report) {
  json::object document;
  document["glovebox"] = report.glovebox_version;
  document["strength"] = StrengthName(report.strength);
  document["exit_code"] = static_cast<int>(report.strength);
  document["verdict"] = report.verdict;
  document["kernel"] = report.kernel;
  document["user"] = report.user;
  document["setting"] = TextOrNull(report.setting);
  document["walls"] = Walls(report.walls);
  document["landlock"] = {{"abi", report.landlock.abi}, {"lacks", Strings(report.landlock.lacks)}};
  document["cgroups"] = Cgroups(report.cgroups);
  document["limits_tier"] = TextOrNull(report.box.limits_tier);
  if (report.no_cgroups) {
    document["tier_a"] = {{"reason", TextOrNull(report.no_cgroups->reason)},
                          {"cause", TextOrNull(report.no_cgroups->cause)},
                          {"fix", report.no_cgroups->fix}};
  }
  document["python"] = {{"path", report.python.path},
                        {"version", TextOrNull(report.python.version)},
                        {"built_for", report.python.built_for},
                        {"reason", TextOrNull(report.python.reason)}};
  document["packages"] = Packages(report.packages);
  document["runtimes"] = Runtimes(report.runtimes);
  document["box"] = Box(report.box);
  document["container"] = Container(report.container);
  return document;
}

}  // namespace glovebox::doctor

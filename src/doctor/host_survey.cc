#include "doctor/host_survey.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/text.h"
#include "doctor/explanation.h"
#include "doctor/program_answers.h"
#include "doctor/trial_box.h"
#include "embedded/doctor_data.h"
#include "policy/package_list.h"
#include "sandbox/compile/landlock_rules.h"
#include "sandbox/compile/python_box.h"
#include "sandbox/parent/cgroup_layout.h"
#include "sandbox/parent/host_decision.h"
#include "sandbox/parent/host_facts.h"
#include "sandbox/parent/host_probes.h"
#include "sandbox/parent/uid_range.h"
#include "sandbox/plan/host_mode.h"

namespace glovebox::doctor {
namespace {

using sandbox::HostFacts;
using sandbox::HostProbe;

constexpr std::chrono::milliseconds kPatience{1'500};  // with programs of the host
constexpr const char* kPython = "/usr/bin/python3";
constexpr std::array<const char*, 5> kRuntimes = {"runsc", "crun", "runc", "podman", "docker"};

struct WallText {
  HostProbe probe;
  const char* name;
  const char* what;
};

constexpr WallText kWalls[] = {
    {HostProbe::kIdentity, "identity", "a user nobody else has, without capabilities"},
    {HostProbe::kRoot, "root", "a read-only root with the Python runtime and nothing else"},
    {HostProbe::kPidNamespace, "pid namespace", "own processes, killed as one"},
    {HostProbe::kNetNamespace, "net namespace", "a network without interfaces"},
    {HostProbe::kIpcNamespace, "ipc namespace", "own message queues, own host name"},
    {HostProbe::kLandlock, "landlock", "file and TCP rules by another mechanism"},
    {HostProbe::kSeccomp, "seccomp", "an allow-list of system calls"},
    {HostProbe::kCallEvents, "events", "refused system calls are told, whatever the code does"},
    {HostProbe::kCgroups, "cgroup", "memory, processes and CPU, held by the kernel"},
    {HostProbe::kRlimits, "rlimits", "processes, files, descriptors; no core dumps"},
};

constexpr const char* kInterpreterWhat = "readable refusals in Python; never the boundary";

std::vector<WallReport> SurveyWalls(const std::string& zygote_program, const HostFacts& facts) {
  std::vector<WallReport> walls;
  const std::vector<sandbox::ProbeResult> results = sandbox::ProbeHost(zygote_program);
  for (const WallText& text : kWalls) {
    const auto result = std::find_if(results.begin(), results.end(),
                                     [&](const auto& one) { return one.probe == text.probe; });
    if (result == results.end()) continue;
    WallReport wall{text.name, text.what, std::nullopt};
    if (!result->status) wall.trouble = Explain(text.probe, result->status.error(), facts);
    walls.push_back(std::move(wall));
  }
  return walls;
}

// How the executor holds boxes here, decided as it decides.
sandbox::HostDecision Decide() {
  if (::geteuid() != 0 || !sandbox::UidRangesAreMapped()) return sandbox::DecideHostMode(nullptr);
  const auto range = sandbox::UidRange::Take(sandbox::kLockFolder);
  return sandbox::DecideHostMode(range ? &*range : nullptr);
}

// The probes try every wall inside a user namespace, as most hosts have it.
// Where there is none and boxes are held another way, a box that ran is the
// proof: it fails closed.
void CorrectByMode(const sandbox::HostMode& mode, bool box_ran, std::vector<WallReport>& walls) {
  if (mode.user_namespaces() || !box_ran) return;
  const std::vector<sandbox::MissingWall> missing = sandbox::MissingWalls(mode);
  const auto lacks = [&](sandbox::Wall wall) {
    return std::any_of(missing.begin(), missing.end(),
                       [wall](const sandbox::MissingWall& one) { return one.wall == wall; });
  };
  constexpr std::pair<const char*, sandbox::Wall> kByNamespaces[] = {
      {"identity", sandbox::Wall::kIdentity},
      {"root", sandbox::Wall::kRoot},
      {"pid namespace", sandbox::Wall::kPidNamespace},
      {"net namespace", sandbox::Wall::kNetNamespace},
      {"ipc namespace", sandbox::Wall::kIpcNamespace}};
  for (const auto& [name, wall] : kByNamespaces) {
    for (WallReport& report : walls) {
      if (report.name == name && !lacks(wall)) report.trouble.reset();
    }
  }
}

constexpr const char* kDelegate =
    "systemd-run --user --scope -p Delegate=yes "
    "glovebox serve (cgroup v2), or serve's "
    "--cgroup-parent with a group that is yours";

// Limits without cgroups are no missing wall, only less exact: told with the
// limits.
void MoveCgroups(HostReport& report) {
  if (report.box.limits_tier == "cgroup") {
    // In a group of its own, where the tree above it is not ours.
    for (WallReport& wall : report.walls) {
      if (wall.name == "cgroup") wall.trouble.reset();
    }
  }
  if (report.box.limits_tier != "supervisor") return;
  report.no_cgroups = Trouble{"", "no cgroup is delegated to this user", kDelegate};
  std::erase_if(report.walls, [&](WallReport& wall) {
    if (wall.name != "cgroup") return false;
    if (wall.trouble) report.no_cgroups = wall.trouble;
    return true;
  });
}

WallReport SurveyInterpreter(const TrialReport& trial) {
  WallReport wall{"interpreter", kInterpreterWhat, std::nullopt};
  if (trial.interpreter_refuses) return wall;
  wall.trouble =
      trial.box.ran ? Trouble{"a program was refused without a word of the audit hook", "",
                              "this is a bug of glovebox: please report it"}
                    : Trouble{"no box to try it in", "a wall above is missing", "raise that first"};
  return wall;
}

CgroupReport SurveyCgroups() {
  CgroupReport report;
  bool v1 = false;
  bool v2 = false;
  for (const sandbox::ControllerPlace& place : sandbox::DetectCgroupLayout().places) {
    const bool second = place.version == sandbox::CgroupVersion::kV2;
    (second ? v2 : v1) = true;
    report.controllers.push_back({place.controller, second ? 2 : 1, place.directory});
  }
  // A second hierarchy that offers nothing of use still makes the host a
  // hybrid.
  v2 = v2 || ::access("/sys/fs/cgroup/unified/cgroup.procs", F_OK) == 0;
  report.layout = v1 && v2 ? "hybrid" : v1 ? "v1" : v2 ? "v2" : "none";
  return report;
}

// The folders of packages that a box finds.
std::string PackageFolders() {
  std::string joined;
  const auto policy = sandbox::PythonBoxPolicy();
  if (!policy) return joined;
  for (const auto& item : policy->root) {
    if (!item.path.ends_with("/dist-packages")) continue;
    joined += (joined.empty() ? "" : ":") + item.path;
  }
  return joined;
}

// The word after "version" in what a program says of itself: "Docker
// version 28.2.2, build ...".
std::string VersionIn(const std::string& answer) {
  const std::size_t at = answer.find("version ");
  if (at == std::string::npos) return {};
  const std::size_t start = at + std::string_view("version ").size();
  return answer.substr(start, answer.find_first_of(", \n", start) - start);
}

// The questions to programs of the host, asked before our own work and read
// after it.
class HostPrograms {
 public:
  HostPrograms() : answers_(context_) {
    for (const char* name : kRuntimes) {
      ProgramReport program{name, FindProgram(name), ""};
      asked_.push_back(program.path.empty()
                           ? std::nullopt
                           : std::optional(answers_.Ask({program.path, "--version"})));
      runtimes_.push_back(std::move(program));
    }
    std::vector<std::string> argv = {
        kPython,         "-I", "-S", "-c", std::string(embedded::kInstalledPackagesProgram),
        PackageFolders()};
    if (auto packages = policy::ParsePackageList(embedded::kDebianPackages)) {
      known_ = std::move(*packages);
    }
    for (const auto& package : known_) argv.push_back(package.distribution);
    python_ = answers_.Ask(std::move(argv));
  }

  void Report(HostReport& report) {
    answers_.Await(kPatience);
    for (std::size_t i = 0; i < runtimes_.size(); ++i) {
      if (asked_[i]) runtimes_[i].version = VersionIn(answers_.answer(*asked_[i]));
    }
    report.runtimes = std::move(runtimes_);
    const std::vector<std::string_view> lines = Split(answers_.answer(python_), '\n');
    report.python = {kPython, std::string(lines.front()), sandbox::PythonVersion(), ""};
    if (report.python.version.empty()) {
      report.python.reason = "it does not run: apt-get install python3";
    } else if (!report.python.version.starts_with(report.python.built_for + ".")) {
      report.python.reason = "glovebox-python contains " + report.python.built_for +
                             ": rebuild glovebox for this Python (make install)";
    }
    for (const auto& package : known_) {
      PackageReport found{package.module, package.debian, ""};
      for (const std::string_view line : lines) {
        if (line.starts_with(package.distribution + " ")) {
          found.version = line.substr(package.distribution.size() + 1);
        }
      }
      report.packages.push_back(std::move(found));
    }
  }

 private:
  boost::asio::io_context context_{1};
  ProgramAnswers answers_;
  std::vector<ProgramReport> runtimes_;
  std::vector<std::optional<std::size_t>> asked_;
  std::vector<policy::PythonPackage> known_;
  std::size_t python_ = 0;
};

std::string Setting(const HostFacts& facts, const sandbox::HostMode& mode) {
  std::string setting;
  if (!facts.container.empty()) {
    setting = "inside " + facts.container;
  } else if (!facts.whole_uid_range) {
    setting = "inside a user namespace";
  } else if (facts.changed_root) {
    setting = "inside a chroot";
  }
  if (mode.user_namespaces()) return setting;
  return setting + (setting.empty() ? "" : ", ") + "without user namespaces";
}

std::string NamesOfMissing(const std::vector<WallReport>& walls) {
  std::string names;
  for (const WallReport& wall : walls) {
    if (!wall.stands()) names += (names.empty() ? "" : ", ") + wall.name;
  }
  return names;
}

}  // namespace

void Judge(HostReport& report) {
  const BoxReport& box = report.box;
  const std::string missing = NamesOfMissing(report.walls);
  if (!box.ran) {
    report.strength = Strength::kNone;
    report.verdict = "glovebox serve cannot run here: " + box.reason;
  } else if (box.degraded) {
    report.strength = Strength::kDegraded;
    report.verdict = "glovebox serve runs here only with --allow-degraded, without: " + missing;
  } else if (missing.empty() && box.missing_walls.empty()) {
    report.strength = Strength::kFull;
    report.verdict = "glovebox serve runs here at full strength";
  } else {
    report.strength = Strength::kDegraded;
    report.verdict = "glovebox serve runs here, but weaker than it could";
  }
}

HostReport SurveyHost(const Result<std::string>& zygote_program) {
  HostReport report;
  HostPrograms programs;
  const HostFacts facts = sandbox::ReadHostFacts();
  report.kernel = "Linux " + facts.kernel_release + " " + facts.machine;
  report.user = facts.root ? "root" : "uid " + std::to_string(::geteuid());
  const sandbox::HostDecision decision = Decide();
  report.setting = Setting(facts, decision.mode);
  const std::string program = zygote_program ? *zygote_program : std::string();
  report.walls = SurveyWalls(program, facts);
  report.landlock.abi = sandbox::LandlockAbi();
  report.landlock.lacks = sandbox::MissingWithLandlockAbi(report.landlock.abi);
  report.cgroups = SurveyCgroups();
  if (zygote_program) {
    const TrialReport trial = TryBox(program);
    CorrectByMode(decision.mode, trial.box.ran, report.walls);
    report.walls.push_back(SurveyInterpreter(trial));
    report.box = trial.box;
    if (trial.box.ran) report.container = TryContainer(program);
    MoveCgroups(report);
  } else {
    report.box.reason = zygote_program.error().message();
  }
  programs.Report(report);
  Judge(report);
  return report;
}

}  // namespace glovebox::doctor

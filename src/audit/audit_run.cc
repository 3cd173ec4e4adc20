#include "audit/audit_run.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include "audit/attribution.h"
#include "audit/command_target.h"
#include "audit/scene.h"
#include "audit/trial.h"

#ifndef GLOVEBOX_VERSION
#error "GLOVEBOX_VERSION is the project's version, defined by src/audit/CMakeLists.txt"
#endif

namespace glovebox::audit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 200;

bool MatchesName(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

class Audit {
 public:
  explicit Audit(const AuditOptions& options) : options_(options) {}

  Result<Report> Run() {
    const Clock::time_point start = Clock::now();
    for (const Probe* probe : options_.probes) report_.findings.push_back({.probe = probe});
    StartAttribution();
    {
      const std::unique_ptr<Scene> scene = TRY(Scene::Create(Stage::kHost));
      if (options_.direct) TRY(RunDirect(*scene));
      if (options_.make_target) TRY(RunTarget(*scene));
    }
    TRY(FinishAttribution());
    JudgeAll(report_.findings, options_.allowed);
    DescribeHost(report_);
    report_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(report_);
  }

 private:
  void StartAttribution() {
    if (options_.attribution_zygote.empty()) {
      report_.no_attribution = "not asked for";
      return;
    }
    AttributionOptions options;
    options.zygote_program = options_.attribution_zygote;
    options.probes = options_.probes;
    Result<AttributionRun> run = AttributionRun::Start(std::move(options));
    if (run) {
      attribution_ = std::make_unique<AttributionRun>(std::move(*run));
    } else {
      report_.no_attribution = run.error().message();
    }
  }

  Status FinishAttribution() {
    if (attribution_ == nullptr) return {};
    while (!attribution_->Poll(kPollMs)) {
      TRY(Continue());
      Tell("walls", attribution_->done(), attribution_->total());
    }
    report_.no_attribution = attribution_->problem();
    for (Finding& finding : report_.findings) {
      const auto found = attribution_->trials().find(finding.probe->name);
      if (found != attribution_->trials().end() && found->second.bare != Held::kUnknown) {
        finding.walls = found->second;
      }
    }
    attribution_.reset();
    return {};
  }

  Status RunDirect(Scene& scene) {
    const std::unique_ptr<Target> host = MakeCommandTarget({});
    return RunAll("direct execution", scene, *host, true, &Finding::direct);
  }

  Status RunTarget(Scene& scene) {
    const std::unique_ptr<Target> target = TRY(options_.make_target());
    report_.target = target->description();
    report_.missing_walls = target->missing_walls();
    return RunAll(report_.target, scene, *target, !options_.trusted_target, &Finding::target);
  }

  Status RunAll(std::string_view stage, Scene& scene, Target& target, bool carefully,
                Trial Finding::*place) {
    std::size_t done = 0;
    for (Finding& finding : report_.findings) {
      TRY(Continue());
      Tell(stage, done++, report_.findings.size());
      if (attribution_ != nullptr) attribution_->Poll(0);
      Trial& trial = finding.*place;
      trial.skipped = carefully ? ReasonToSkip(*finding.probe) : "";
      if (trial.skipped.empty()) trial = Try(*finding.probe, scene, target);
    }
    Tell(stage, done, report_.findings.size());
    return {};
  }

  Status Continue() const {
    if (!options_.interrupted || !options_.interrupted()) return {};
    return Error(Errc::kLimit, "interrupted");
  }

  void Tell(std::string_view stage, std::size_t done, std::size_t total) const {
    if (options_.on_progress) options_.on_progress(stage, done, total);
  }

  const AuditOptions& options_;
  Report report_;
  std::unique_ptr<AttributionRun> attribution_;
};

}  // namespace

Result<Report> RunAudit(const AuditOptions& options) { return Audit(options).Run(); }

void JudgeAll(std::vector<Finding>& findings, const std::vector<std::string>& allowed) {
  for (Finding& finding : findings) Judge(finding, Matches(allowed, *finding.probe));
}

void DescribeHost(Report& report) {
  utsname names = {};
  uname(&names);
  report.host = std::string(names.sysname) + " " + names.release + " " + names.machine;
  report.user = geteuid() == 0 ? "root" : "uid " + std::to_string(geteuid());
  report.version = GLOVEBOX_VERSION;
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  std::array<char, 32> text = {};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  report.time = text.data();
}

bool Matches(const std::vector<std::string>& patterns, const Probe& probe) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return MatchesName(pattern, probe.name) || MatchesName(pattern, FamilyName(probe.family));
  });
}

}  // namespace glovebox::audit

#include "app/audit_command.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include "app/audit_progress.h"
#include "app/command_profile.h"
#include "app/profile_settings.h"
#include "app/zygote_path.h"
#include "audit/audit_run.h"
#include "audit/baseline.h"
#include "audit/box_target.h"
#include "audit/command_target.h"
#include "audit/mcp_target.h"
#include "audit/results_files.h"
#include "base/file.h"
#include "container/runtime.h"
#include "mcp/json_writer.h"

namespace glovebox {
namespace {

constexpr int kExitWeakness = 1;
constexpr int kExitUsage = 2;
constexpr int kExitWorse = 3;
constexpr int kExitOurFailure = 125;
constexpr int kExitInterrupted = 130;

struct Options {
  std::string target = "box";
  std::string profile = "full";
  std::string target_command;
  std::string mcp;
  std::string mcp_url;
  std::string token;
  std::string tool;
  std::string argument;
  std::string arguments;
  std::string only;
  std::vector<std::string> probes;
  std::vector<std::string> allowed;
  bool list = false;
  bool no_attribution = false;
  bool allow_degraded = false;
  bool quiet = false;
  std::string cgroup_parent;
  std::string container_runtime = "auto";
  std::string format = "md";
  std::string out;
  std::string results;
  bool from_results = false;
  std::string baseline;

  // Neither somebody's command nor somebody's server.
  bool ours() const { return target_command.empty() && mcp.empty() && mcp_url.empty(); }
};

volatile std::sig_atomic_t interrupted = 0;

int Complain(int exit_code, const std::string& sentence) {
  std::fprintf(stderr, "glovebox: %s\n", sentence.c_str());
  return exit_code;
}

// A signal ends the audit between two probes, so that everything is put away.
void HearSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

Result<audit::BoxTargetOptions> BoxOptionsOf(const Options& options) {
  ServeSettings settings;
  settings.enable_full = settings.enable_data_science = settings.enable_filesystem = true;
  CommandProfile profile = TRY(ChooseCommandProfile(options.profile));
  audit::BoxTargetOptions box;
  box.zygote_program = TRY(FindZygoteProgram());
  box.description = "Glovebox box, profile " + profile.choice.name();
  for (BoxKind& kind : TRY(BoxKindsOf(settings))) {
    if (kind.name == profile.choice.box_kind()) box.kinds = {std::move(kind)};
  }
  box.language = std::move(profile.language);
  box.allow_degraded = options.allow_degraded;
  box.cgroup_parent = options.cgroup_parent;
  if (options.target == "container") box.container_runtime = options.container_runtime;
  return box;
}

Result<audit::McpTargetOptions> McpOptionsOf(const Options& options) {
  audit::McpTargetOptions mcp;
  if (!options.mcp.empty()) mcp.command = TRY(audit::SplitCommand(options.mcp));
  mcp.url = options.mcp_url;
  mcp.token = options.token;
  mcp.tool = options.tool;
  mcp.argument = options.argument;
  if (!options.arguments.empty()) {
    boost::system::error_code error;
    const boost::json::value parsed = boost::json::parse(options.arguments, error);
    if (error || !parsed.is_object()) {
      return Error(Errc::kInvalidArgument, "--arguments must be a JSON object");
    }
    mcp.arguments = parsed.get_object();
  }
  return mcp;
}

// What is audited. Nothing is started yet: that happens in the audit.
Status ChooseTarget(const Options& options, audit::AuditOptions& audit) {
  if (!options.target_command.empty()) {
    std::vector<std::string> prefix = TRY(audit::SplitCommand(options.target_command));
    audit.make_target = [prefix]() -> Result<std::unique_ptr<audit::Target>> {
      return audit::MakeCommandTarget(prefix);
    };
    return {};
  }
  if (!options.mcp.empty() || !options.mcp_url.empty()) {
    const audit::McpTargetOptions mcp = TRY(McpOptionsOf(options));
    audit.make_target = [mcp] { return audit::MakeMcpTarget(mcp); };
    return {};
  }
  if (options.target == "direct") return {};
  const audit::BoxTargetOptions box = TRY(BoxOptionsOf(options));
  audit.trusted_target = true;
  audit.make_target = [box] { return audit::MakeBoxTarget(box); };
  if (options.target == "box" && !options.no_attribution) {
    audit.attribution_zygote = box.zygote_program;
  }
  return {};
}

Result<audit::AuditOptions> AuditOptionsOf(const Options& options) {
  audit::AuditOptions audit;
  for (const audit::Probe& probe : audit::Probes()) {
    if (options.probes.empty() || audit::Matches(options.probes, probe)) {
      audit.probes.push_back(&probe);
    }
  }
  if (audit.probes.empty()) {
    return Error(Errc::kInvalidArgument,
                 "--probe matches no probe and no family; `glovebox audit --list` has them");
  }
  TRY(ChooseTarget(options, audit));
  if (options.only == "direct") audit.make_target = {};
  if (options.only == "target") audit.direct = false;
  if (!audit.direct || !audit.make_target) audit.attribution_zygote.clear();
  audit.allowed = options.allowed;
  audit.interrupted = [] { return interrupted != 0; };
  return audit;
}

std::string Render(const audit::Report& report, const std::string& format) {
  if (format == "html") return audit::ReportHtml(report);
  if (format == "json") return mcp::WriteJson(audit::ReportJson(report)) + "\n";
  if (format == "sarif") return mcp::WriteJson(audit::ReportSarif(report)) + "\n";
  if (format == "junit") return audit::ReportJunit(report);
  return audit::ReportMarkdown(report);
}

Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc | std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error::FromErrno("writing " + path, errno);
  return {};
}

// The files of --results and the report of --out; without --out it goes to standard output.
Status Write(const audit::Report& report, const Options& options) {
  const bool both = options.only.empty() && (options.target != "direct" || !options.ours());
  if (!options.results.empty() && !options.from_results) {
    if (options.only != "target") {
      TRY(audit::WriteResults(options.results, report, audit::ResultsOf::kDirect));
    }
    if (options.only == "target" || both) {
      TRY(audit::WriteResults(options.results, report, audit::ResultsOf::kTarget));
    }
  }
  if (!options.results.empty() && both) {
    const std::string stem = options.results + "/isolation_report.";
    for (const char* format : {"md", "html", "json", "sarif"}) {
      TRY(WriteText(stem + format, Render(report, format)));
    }
    TRY(WriteText(stem + "xml", Render(report, "junit")));
    std::fprintf(stderr, "Report generated: %smd (and .html, .json, .sarif, .xml)\n", stem.c_str());
  }
  if (!options.out.empty()) return WriteText(options.out, Render(report, options.format));
  if (options.results.empty()) std::fputs(Render(report, options.format).c_str(), stdout);
  return {};
}

Result<audit::Report> ReportOf(const Options& options) {
  if (options.from_results) {
    audit::Report report;
    report.findings = TRY(audit::ReadResults(options.results));
    audit::JudgeAll(report.findings, options.allowed);
    audit::DescribeHost(report);
    report.target = audit::TargetInResults(options.results);
    report.no_attribution = "made from the files in " + options.results;
    return report;
  }
  audit::AuditOptions audit = TRY(AuditOptionsOf(options));
  audit::Report report;
  {
    AuditProgress progress(options.quiet);
    audit.on_progress = [&](std::string_view stage, std::size_t done, std::size_t total) {
      progress.Show(stage, done, total);
    };
    report = TRY(audit::RunAudit(audit));
  }
  if (!audit.make_target) report.target = "direct execution alone";
  return report;
}

// What got worse, a line each on standard error.
Result<bool> IsWorse(const audit::Report& report, const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  if (!text) return Error::FromErrno("reading " + path, errno);
  boost::system::error_code error;
  const boost::json::value parsed = boost::json::parse(*text, error);
  if (error || !parsed.is_object()) {
    return Error(Errc::kInvalidArgument, "--baseline: " + path + " is not a JSON object");
  }
  const std::vector<std::string> worse = TRY(audit::WorseThan(parsed.get_object(), report));
  for (const std::string& line : worse) std::fprintf(stderr, "worse: %s\n", line.c_str());
  return !worse.empty();
}

void SayInShort(const audit::Report& report) {
  const audit::Figures figures = audit::FiguresOf(report.findings);
  std::fprintf(stderr, "%zu probes, %.1f s: ", report.findings.size(), report.seconds);
  for (std::size_t i = 0; i < audit::kVerdictCount; ++i) {
    const auto verdict = static_cast<audit::Verdict>(i);
    if (figures.count(verdict) == 0) continue;
    std::fprintf(stderr, "%zu %s; ", figures.count(verdict),
                 std::string(audit::VerdictTitle(verdict)).c_str());
  }
  std::fprintf(stderr, "effectiveness %s\n", audit::PercentText(figures).c_str());
  for (const audit::Finding* finding : report.Weaknesses()) {
    std::fprintf(stderr, "weakness: %s: %s\n", std::string(finding->probe->name).c_str(),
                 finding->reason.c_str());
  }
}

int RunCommand(const Options& options) {
  if (options.list) {
    for (const audit::Probe& probe : audit::Probes()) {
      std::printf("%-22s %-32s %s\n", std::string(audit::FamilyName(probe.family)).c_str(),
                  std::string(probe.name).c_str(), std::string(audit::ProbeTitle(probe)).c_str());
    }
    return 0;
  }
  HearSignals();
  const Result<audit::Report> report = ReportOf(options);
  if (!report) {
    if (interrupted != 0) return Complain(kExitInterrupted, "interrupted");
    const bool usage = report.error().code() == Errc::kInvalidArgument;
    return Complain(usage ? kExitUsage : kExitOurFailure, report.error().message());
  }
  if (Status written = Write(*report, options); !written) {
    return Complain(kExitOurFailure, written.error().message());
  }
  const bool judged = options.only.empty() && (options.target != "direct" || !options.ours());
  if (!judged) return 0;
  if (!options.quiet) SayInShort(*report);
  if (!report->Weaknesses().empty()) return kExitWeakness;
  if (audit::FiguresOf(report->findings).telling() == 0) {
    return Complain(kExitOurFailure, "nothing was shown: no probe could be tried at the target");
  }
  if (options.baseline.empty()) return 0;
  const Result<bool> worse = IsWorse(*report, options.baseline);
  if (!worse) return Complain(kExitUsage, worse.error().message());
  return *worse ? kExitWorse : 0;
}

void AddTargetOptions(CLI::App& command, Options& options) {
  command.add_option("--target", options.target, "What is audited: box, container or direct")
      ->check(CLI::IsMember({"box", "container", "direct"}))
      ->capture_default_str();
  command
      .add_option("--profile", options.profile, "The box's profile; the kernel's walls are alike")
      ->capture_default_str();
  command
      .add_option("--container-runtime", options.container_runtime,
                  "Of --target container: auto, runsc, crun, runc, podman or docker")
      ->check(CLI::IsMember(container::RuntimeNames()))
      ->capture_default_str();
  auto* prefix = command.add_option("--target-command", options.target_command,
                                    "Instead: Python behind this command, as in 'bwrap ... --'");
  auto* program = command.add_option("--mcp", options.mcp, "Instead: an MCP server, this command");
  auto* url =
      command.add_option("--mcp-url", options.mcp_url, "Instead: an MCP server at this URL");
  prefix->excludes(program)->excludes(url);
  program->excludes(url);
  command.add_option("--mcp-token", options.token, "Its bearer token")
      ->envname("GLOVEBOX_AUDIT_TOKEN");
  command.add_option("--tool", options.tool, "The server's tool that runs Python");
  command.add_option("--argument", options.argument, "The tool's argument that is the code");
  command.add_option("--arguments", options.arguments, "Its other arguments, as a JSON object");
  command.add_flag("--allow-degraded", options.allow_degraded, "Audit boxes that lack walls, too")
      ->envname("SANDBOX_ALLOW_DEGRADED");
  command.add_option("--cgroup-parent", options.cgroup_parent, "The cgroup for the boxes' own")
      ->envname("SANDBOX_CGROUP_PARENT");
}

}  // namespace

void AddAuditCommand(CLI::App& root, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = root.add_subcommand(
      "audit", "Attempt the same operations on the host and in the box; tell what holds");
  AddTargetOptions(*command, *options);
  command->add_option("--probe", options->probes,
                      "Only probes or families of this name, '*' at its end matches; repeatable");
  command->add_option("--allow", options->allowed,
                      "Probes or families that the target's policy grants; repeatable");
  command->add_flag("--list", options->list, "List the probes and end");
  command->add_flag("--no-attribution", options->no_attribution,
                    "Leave out which wall stops what (box only, needs root)");
  command->add_option("--only", options->only, "One half: direct or target, for --results")
      ->check(CLI::IsMember({"direct", "target"}));
  auto* results = command->add_option("--results", options->results,
                                      "A folder for the results of each family and the report");
  command->add_flag("--from-results", options->from_results, "Report what --results holds already")
      ->needs(results);
  command->add_option("--format", options->format, "md, html, json, sarif or junit")
      ->check(CLI::IsMember({"md", "html", "json", "sarif", "junit"}))
      ->capture_default_str();
  command->add_option("--out", options->out, "A file for the report instead of standard output");
  command->add_option("--baseline", options->baseline,
                      "A JSON report; exit code 3 when something is worse than in it");
  command->add_flag("--quiet", options->quiet, "No progress and no summary on standard error");
  command->footer(
      "Exit codes: 0 nothing that policy forbids succeeded; 1 something did; 3 worse than the\n"
      "baseline; 130 interrupted; 125 Glovebox failed, or nothing could be shown; 2 usage.");
  command->callback([options, &exit_code] { exit_code = RunCommand(*options); });
}

}  // namespace glovebox

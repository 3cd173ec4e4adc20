#include "app/python_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/audit_log.h"
#include "app/audited_executor.h"
#include "app/profile_settings.h"
#include "app/zygote_path.h"
#include "executor/local_executor.h"
#include "tools/execute_code_tool.h"
#include "tools/language_policy.h"
#include "tools/list_capabilities_tool.h"
#include "tools/python_prompt.h"
#include "tools/run_python_code_tool.h"
#include "tools/sandbox_info_tool.h"
#include "tools/validate_code_tool.h"

#ifndef GLOVEBOX_VERSION
#error "GLOVEBOX_VERSION is the project's version, defined by src/app/CMakeLists.txt"
#endif

namespace glovebox {
namespace {

constexpr const char* kInstructions =
    "Runs Python in sealed boxes. Every execute_code call gets a fresh box: no state survives "
    "between calls, there is no network (but for hosts the operator allows to the profile "
    "network), "
    "and files vanish with the box, so send complete programs "
    "and print or return what you need. get_sandbox_info tells the profiles, which packages are "
    "installed and what the limits are; validate_code finds mistakes without running anything. "
    "When an import is refused, choose a profile that has it; when a run times out, do less per "
    "call or raise `timeout`.";

// Fairness is between clients. A server with one client has nobody to protect from it, unless
// somebody asks for limits by name.
mcp::AdmissionOptions Admission(const Configuration& configuration) {
  const ServeSettings& settings = configuration.settings;
  const bool many_clients = settings.transport == "http";
  mcp::AdmissionOptions options;
  if (many_clients || configuration.given("rate")) {
    options.requests_per_second = static_cast<double>(settings.requests_per_second);
    options.burst = static_cast<std::uint32_t>(settings.burst);
  }
  if (settings.concurrent_max > 0) {
    options.concurrent_max = static_cast<std::uint32_t>(settings.concurrent_max);
  } else if (many_clients) {
    options.concurrent_max =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(settings.boxes_max / 2, 1));
  }
  return options;
}

mcp::ServerOptions ServerOptions(const Configuration& configuration) {
  mcp::ServerOptions options;
  options.info = {"glovebox", "Glovebox", GLOVEBOX_VERSION, "", {}};
  options.instructions = kInstructions;
  if (configuration.settings.transport == "http") {
    options.limits.bytes_max = configuration.settings.body_bytes_max;
  }
  options.admission = Admission(configuration);
  return options;
}

RunLimits LimitsOf(const ServeSettings& settings) {
  RunLimits limits;
  limits.timeout_s_default = static_cast<std::uint32_t>(settings.timeout_seconds_default);
  limits.timeout_s_max = static_cast<std::uint32_t>(settings.timeout_seconds_max);
  limits.memory_bytes_max = settings.memory_bytes_max;
  limits.output_chars_max = static_cast<std::uint32_t>(settings.output_chars_max);
  limits.code_chars_max = settings.code_chars_max;
  return limits;
}

// One client asks one thing after the other, or a few at once.
std::uint32_t WarmBoxes(const Configuration& configuration) {
  const auto boxes = static_cast<std::uint32_t>(configuration.settings.warm_boxes);
  const bool one_client = configuration.settings.transport == "stdio";
  return one_client && !configuration.given("warm-boxes") ? std::min(boxes, 4u) : boxes;
}

ContainerTierOptions ContainersOf(const ServeSettings& settings) {
  return {.runtime = settings.container_runtime,
          .image = settings.container_image,
          .warm_boxes = static_cast<std::uint32_t>(settings.warm_containers)};
}

AuditLogOptions AuditOptions(const ServeSettings& settings) {
  return {.path = settings.audit_log,
          .with_code = settings.audit_log_code,
          .bytes_max = settings.audit_log_bytes_max,
          .files_kept = static_cast<std::uint32_t>(settings.audit_log_files)};
}

void WarnOfMissingWalls(const std::vector<std::string>& walls, const Log& log) {
  if (walls.empty()) return;
  std::string text = "boxes are degraded (allow-degraded), as every result says. Missing walls: ";
  for (const std::string& wall : walls) text += (&wall == walls.data() ? "" : "; ") + wall;
  log.Warn(text);
}

}  // namespace

Result<std::unique_ptr<PythonService>> PythonService::Create(boost::asio::io_context& context,
                                                             const Configuration& configuration,
                                                             const Log& log) {
  LocalExecutorOptions options;
  options.zygote_program = TRY(FindZygoteProgram());
  const ServeSettings& settings = configuration.settings;
  options.kinds = TRY(BoxKindsOf(settings));
  if (settings.enable_network) options.egress_program = TRY(FindEgressProgram());
  for (BoxKind& kind : options.kinds) kind.warm_boxes = WarmBoxes(configuration);
  options.boxes_max = static_cast<std::uint32_t>(settings.boxes_max);
  options.queue_max = static_cast<std::uint32_t>(settings.queue_max);
  options.zygote_life.boxes_max = static_cast<std::uint32_t>(settings.boxes_per_interpreter);
  options.fill_at_start = settings.transport == "http";
  options.allow_degraded = settings.allow_degraded == "true";
  options.cgroup_parent = settings.cgroup_parent;
  std::vector<std::string> missing;
  options.on_degraded = [&missing](const std::vector<std::string>& walls) { missing = walls; };
  ContainerTerms containers;
  if (settings.enable_containers) {
    containers.enabled = true;
    options.containers = ContainersOf(settings);
    options.on_containers = [&containers](const ContainerTierReport& report) {
      containers.runtime = report.runtime;
      containers.reason = report.reason;
      containers.image = report.image;
      containers.warm = report.warm_boxes;
    };
  }
  auto boxes = TRY(CreateLocalExecutor(context, std::move(options)));
  if (!containers.reason.empty()) {
    log.Warn("use_container will be refused: " + containers.reason);
  } else if (!containers.runtime.empty()) {
    log.Inform("containers: " + containers.runtime);
  }
  WarnOfMissingWalls(missing, log);
  std::unique_ptr<Executor> audited;
  if (!settings.audit_log.empty()) {
    audited = std::make_unique<AuditedExecutor>(
        *boxes, TRY(AuditLog::Open(AuditOptions(settings))),
        [&log](const Error& error) { log.Error(error.message()); });
  }
  return std::unique_ptr<PythonService>(new PythonService(context, configuration, std::move(boxes),
                                                          std::move(audited), missing, containers));
}

PythonService::PythonService(boost::asio::io_context& context, const Configuration& configuration,
                             std::unique_ptr<Executor> boxes, std::unique_ptr<Executor> audited,
                             const std::vector<std::string>& missing_walls,
                             const ContainerTerms& containers)
    : server_(context.get_executor(), ServerOptions(configuration)),
      boxes_(std::move(boxes)),
      audited_(std::move(audited)),
      executor_(audited_ ? *audited_ : *boxes_,
                [this](const Outcome& outcome) {
                  if (on_execution) on_execution(outcome);
                }),
      inventory_(*boxes_) {
  const ServeSettings& settings = configuration.settings;
  const SandboxTerms terms = {LimitsOf(settings), OfferOf(configuration), containers};
  mcp::ToolRegistry& tools = server_.tools();
  tools.Add(std::make_unique<ExecuteCodeTool>(
      context.get_executor(), executor_,
      ExecuteCodeOptions{.limits = terms.limits, .offer = terms.offer}));
  tools.Add(
      std::make_unique<ValidateCodeTool>(executor_, terms.limits.code_chars_max,
                                         LanguagePolicyOf(terms.offer.Default(), terms.offer)));
  tools.Add(std::make_unique<SandboxInfoTool>(inventory_, terms));
  tools.Add(
      std::make_unique<ListCapabilitiesTool>(terms.limits, terms.offer, missing_walls, containers));
  tools.Add(std::make_unique<RunPythonCodeTool>(
      executor_, terms.limits, terms.offer,
      settings.return_mode == "json" ? ReturnMode::kJson : ReturnMode::kXml));
  AddSandboxInfoResource(server_.resources(), inventory_, terms);
  AddPythonPrompt(server_.prompts());
  server_.Open();
}

PythonService::~PythonService() {
  // While their boxes can still be told.
  server_.tasks().CancelAll();
}

}  // namespace glovebox

#include "app/python_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/zygote_path.h"
#include "executor/local_executor.h"
#include "tools/execute_code_tool.h"
#include "tools/python_prompt.h"
#include "tools/sandbox_info_tool.h"
#include "tools/validate_code_tool.h"

#ifndef GLOVEBOX_VERSION
#error "GLOVEBOX_VERSION is the project's version, defined by src/app/CMakeLists.txt"
#endif

namespace glovebox {
namespace {

// What programs written by models import most. Imported once in the zygote, they cost a box
// nothing.
const std::vector<std::string>& CommonModules() {
  static const std::vector<std::string> modules = {
      "json",        "math",    "re",        "datetime", "random", "collections",
      "itertools",   "typing",  "functools", "asyncio",  "string", "statistics",
      "dataclasses", "decimal", "traceback", "linecache"};
  return modules;
}

constexpr const char* kInstructions =
    "Runs Python in sealed boxes. Every execute_code call gets a fresh box: no state survives "
    "between calls, there is no network, and files vanish with the box, so send complete programs "
    "and print or return what you need. get_sandbox_info tells which packages are installed and "
    "what the limits are; validate_code finds syntax errors without running anything. When a run "
    "times out, do less per call or raise `timeout`.";

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
  limits.memory_bytes_default = settings.memory_bytes_default;
  limits.memory_bytes_max = settings.memory_bytes_max;
  limits.output_chars_max = static_cast<std::uint32_t>(settings.output_chars_max);
  limits.code_chars_max = settings.code_chars_max;
  return limits;
}

}  // namespace

Result<std::unique_ptr<PythonService>> PythonService::Create(boost::asio::io_context& context,
                                                             const Configuration& configuration) {
  LocalExecutorOptions options;
  options.zygote_program = TRY(FindZygoteProgram());
  options.kinds = {{.name = "python", .preimports = CommonModules()}};
  options.boxes_max = static_cast<std::uint32_t>(configuration.settings.boxes_max);
  options.allow_degraded = configuration.settings.allow_degraded == "true";
  options.cgroup_parent = configuration.settings.cgroup_parent;
  std::vector<std::string> missing;
  options.on_degraded = [&missing](const std::vector<std::string>& walls) { missing = walls; };
  auto boxes = TRY(CreateLocalExecutor(context, std::move(options)));
  std::unique_ptr<PythonService> service(
      new PythonService(context, configuration, std::move(boxes)));
  service->missing_walls_ = std::move(missing);
  return service;
}

PythonService::PythonService(boost::asio::io_context& context, const Configuration& configuration,
                             std::unique_ptr<Executor> boxes)
    : server_(context.get_executor(), ServerOptions(configuration)),
      boxes_(std::move(boxes)),
      executor_(*boxes_,
                [this](const Outcome& outcome) {
                  if (on_execution) on_execution(outcome);
                }),
      inventory_(*boxes_) {
  const RunLimits limits = LimitsOf(configuration.settings);
  server_.tools().Add(std::make_unique<ExecuteCodeTool>(context.get_executor(), executor_,
                                                        ExecuteCodeOptions{.limits = limits}));
  server_.tools().Add(std::make_unique<ValidateCodeTool>(executor_, limits.code_chars_max));
  server_.tools().Add(std::make_unique<SandboxInfoTool>(inventory_, limits));
  AddSandboxInfoResource(server_.resources(), inventory_, limits);
  AddPythonPrompt(server_.prompts());
  server_.Open();
}

void PythonService::WarnOfMissingWalls(const Log& log) const {
  if (missing_walls_.empty()) return;
  std::string text = "boxes are degraded (allow-degraded), as every result says. Missing walls: ";
  for (const std::string& wall : missing_walls_) {
    text += (&wall == missing_walls_.data() ? "" : "; ") + wall;
  }
  log.Warn(text);
}

PythonService::~PythonService() {
  // While their boxes can still be told.
  server_.tasks().CancelAll();
}

}  // namespace glovebox

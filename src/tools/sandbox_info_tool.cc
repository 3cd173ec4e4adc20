#include "tools/sandbox_info_tool.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>

#include "base/text.h"
#include "executor/request.h"
#include "mcp/json_writer.h"
#include "tools/arguments.h"
#include "tools/schema.h"
#include "tools/tool_result.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::int64_t kResourceTtlMs = 5 * 60 * 1000;  // the same until the server is restarted

json::object Limits(const RunLimits& limits) {
  json::object object;
  object["timeout_seconds_default"] = limits.timeout_s_default;
  object["timeout_seconds_max"] = limits.timeout_s_max;
  object["memory_limit_default"] = SizeText(limits.memory_bytes_default);
  object["memory_limit_max"] = SizeText(limits.memory_bytes_max);
  object["processes_max"] = ExecutionLimits().processes_max;
  object["output_chars_max"] = limits.output_chars_max;
  object["code_chars_max"] = limits.code_chars_max;
  return object;
}

json::object OutputProperties() {
  json::object all;
  all["restricted_python"] =
      Property("boolean", "Whether the language is restricted. False: it is all of Python.");
  all["timeout_seconds"] = Property("integer", "Wall time of a run that asks for no other.");
  all["max_output_size"] = Property("integer", "Characters kept of stdout, and of stderr.");
  all["security_capabilities"] =
      Property("object",
               "network_enabled, filesystem_enabled (files inside the box), data_science_enabled.");
  all["allowed_imports"] =
      Property("object",
               "Well-known modules that can be imported, by kind: safe_stdlib, data_science, "
               "network, filesystem. Any other installed module can be imported, too.");
  all["total_allowed_modules"] =
      Property("integer", "Top-level modules that can be imported, of Python and of packages.");
  all["safe_builtins"] = ListProperty("string", "Built-in names; none is taken away.");
  all["import_policy"] = Property("string", "What may be imported, in words.");
  all["python_version"] = Property("string", "As in 3.11.2.");
  all["python_implementation"] = Property("string", "As in CPython.");
  all["packages"] = ListProperty("object", "Installed packages: name, version.");
  all["limits"] = Property("object", "Limits of a run, defaults and maxima.");
  all["writable_folders"] = ListProperty("string", "Where code can write; gone with the box.");
  all["state_between_calls"] = Property("boolean", "Whether anything survives a call. False.");
  all["walls"] = ListProperty("string", "What keeps code in its box.");
  all["missing_walls"] = ListProperty("string", "Protections this host could not provide.");
  return all;
}

mcp::ToolDefinition Definition() {
  mcp::ToolDefinition tool;
  tool.name = "get_sandbox_info";
  tool.title = "What the Python sandbox offers";
  tool.description =
      "Tells what execute_code offers: Python's version, the installed packages with their "
      "versions, "
      "the limits of a run, where files can be written, and what keeps the code in its box. Call "
      "it "
      "once before relying on a package outside the standard library; the answer does not change "
      "while the server runs. Takes no arguments. Packages cannot be installed: there is no "
      "network.";
  tool.input_schema = InputSchema({}, {});
  tool.output_schema = OutputSchema(
      OutputProperties(), {"restricted_python", "timeout_seconds", "max_output_size",
                           "security_capabilities", "allowed_imports", "total_allowed_modules",
                           "safe_builtins", "python_version", "packages", "limits"});
  tool.annotations = {.read_only_hint = true,
                      .destructive_hint = false,
                      .idempotent_hint = true,
                      .open_world_hint = false};
  tool.icons = ToolIcons();
  return tool;
}

// Whether an entry of missing_walls, "root: names of files can be seen", is about `wall`.
bool IsMissing(const json::array& missing, std::string_view wall) {
  return std::any_of(missing.begin(), missing.end(), [&](const json::value& entry) {
    return std::string_view(entry.as_string()).starts_with(std::string(wall) + ":");
  });
}

json::array StandingWalls(const json::array& missing) {
  json::array walls;
  walls.emplace_back(IsMissing(missing, "identity")
                         ? "identity: no capabilities, no way to gain any"
                         : "identity: a throw-away user without capabilities");
  if (!IsMissing(missing, "root")) {
    walls.emplace_back("root: a read-only root with the Python runtime and nothing else");
  }
  if (!IsMissing(missing, "pid namespace")) {
    walls.emplace_back(
        "namespaces: own processes, mounts, IPC and host name, a network without interfaces");
  }
  walls.emplace_back("Landlock: the file and network rules a second time");
  walls.emplace_back("seccomp: an allow-list of system calls");
  walls.emplace_back("limits: memory, processes, CPU, output and time, kept from outside");
  return walls;
}

}  // namespace

json::object SandboxInfo(const json::object& inventory, const RunLimits& limits) {
  const json::object& imports = inventory.at("allowed_imports").as_object();
  const bool data_science = !imports.at("data_science").as_array().empty();
  json::object document;
  document["restricted_python"] = false;
  document["timeout_seconds"] = limits.timeout_s_default;
  document["max_output_size"] = limits.output_chars_max;
  document["security_capabilities"] = {{"network_enabled", false},
                                       {"filesystem_enabled", true},
                                       {"data_science_enabled", data_science}};
  for (const char* key : {"allowed_imports", "total_allowed_modules", "safe_builtins"}) {
    document[key] = inventory.at(key);
  }
  document["import_policy"] = "every installed module can be imported";
  for (const char* key : {"python_version", "python_implementation", "packages"}) {
    document[key] = inventory.at(key);
  }
  document["limits"] = Limits(limits);
  const json::array& missing = inventory.at("missing_walls").as_array();
  document["writable_folders"] = IsMissing(missing, "root")
                                     ? json::array{"the current folder, which is HOME", "TMPDIR"}
                                     : json::array{"/work", "/tmp", "/dev/shm"};
  document["state_between_calls"] = false;
  document["walls"] = StandingWalls(missing);
  document["missing_walls"] = missing;
  return document;
}

SandboxInfoTool::SandboxInfoTool(BoxInventory& inventory, RunLimits limits)
    : inventory_(inventory), limits_(limits), definition_(Definition()) {}

void SandboxInfoTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  const Status names = CheckArgumentNames(arguments, "get_sandbox_info", {});
  if (!names) return responder.Reply(ToToolResult(names.error()));
  inventory_.Get([responder, limits = limits_](const Result<json::object>& inventory) {
    if (!inventory) return responder.Fail(inventory.error());
    responder.Reply(ToToolResult(SandboxInfo(*inventory, limits)));
  });
}

void AddSandboxInfoResource(mcp::ResourceRegistry& resources, BoxInventory& inventory,
                            RunLimits limits) {
  mcp::ResourceDefinition definition;
  definition.uri = "glovebox://sandbox-info";
  definition.name = "sandbox-info";
  definition.title = "What the Python sandbox offers";
  definition.description =
      "Python's version, installed packages, limits and walls: what get_sandbox_info answers.";
  definition.mime_type = "application/json";
  definition.icons = ToolIcons();
  resources.Add(
      std::move(definition), [&inventory, limits](const std::string& uri, const auto& responder) {
        inventory.Get([uri, limits, responder](const Result<json::object>& found) {
          if (!found) return responder.Fail(found.error());
          mcp::ReadResourceResult result;
          result.contents.push_back(
              {uri, "application/json", mcp::WriteJson(SandboxInfo(*found, limits)), std::nullopt});
          result.cache = {kResourceTtlMs, true};
          responder.Reply(result);
        });
      });
}

}  // namespace glovebox

#include "tools/sandbox_info_tool.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>

#include "base/text.h"
#include "executor/request.h"
#include "mcp/json_writer.h"
#include "policy/profile.h"
#include "python/wire/language.h"
#include "tools/arguments.h"
#include "tools/schema.h"
#include "tools/tool_result.h"

namespace glovebox {
namespace {

namespace json = boost::json;

constexpr std::int64_t kResourceTtlMs = 5 * 60 * 1000;  // the same until the server is restarted

json::object Limits(const RunLimits& limits, const policy::ProfileChoice& choice) {
  json::object object;
  object["timeout_seconds_default"] = limits.timeout_s_default;
  object["timeout_seconds_max"] = limits.timeout_s_max;
  object["memory_limit_default"] = SizeText(choice.memory_bytes);
  object["memory_limit_max"] = SizeText(limits.memory_bytes_max);
  object["processes_max"] = ExecutionLimits().processes_max;
  object["output_chars_max"] = limits.output_chars_max;
  object["code_chars_max"] = limits.code_chars_max;
  return object;
}

json::object OutputProperties() {
  json::object all;
  all["success"] = Property("boolean", "True.");
  all["security_profiles"] =
      Property("object",
               "By name: enabled, modules, summary, memory_limit, language_layer, and of modules "
               "that are not installed the package that has them.");
  all["default_profile"] = Property("string", "What a call without `profile` gets.");
  all["resource_limits"] =
      Property("object", "timeout, max_timeout (seconds), max_output_size, memory_limit, ...");
  all["container_mode"] = Property(
      "object",
      "available, enabled; where available runtime, image, warm_containers; otherwise reason.");
  all["restricted_python"] = Property(
      "boolean", "Whether a language layer checks code of the default profile before it runs.");
  all["timeout_seconds"] = Property("integer", "Wall time of a run that asks for no other.");
  all["max_output_size"] = Property("integer", "Characters kept of stdout, and of stderr.");
  all["security_capabilities"] =
      Property("object", "network_enabled, filesystem_enabled, data_science_enabled.");
  all["allowed_imports"] =
      Property("object",
               "Modules that a call without `profile` can import, by kind: safe_stdlib, "
               "data_science, network, filesystem, other. A module brings its submodules.");
  all["total_allowed_modules"] = Property("integer", "How many these are.");
  all["safe_builtins"] =
      ListProperty("string", "Built-in names that a call without `profile` may use.");
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
      "Tells what execute_code offers: the profiles with their modules, Python's version, the "
      "installed packages with their versions, the limits of a run, where files can be written, "
      "and what keeps the code in its box. Call it once before relying on a package outside the "
      "standard library; the answer does not change while the server runs. Takes no arguments. "
      "Packages cannot be installed: there is no network.";
  tool.input_schema = InputSchema({}, {});
  tool.output_schema = OutputSchema(
      OutputProperties(),
      {"success", "security_profiles", "resource_limits", "container_mode", "restricted_python",
       "timeout_seconds", "max_output_size", "security_capabilities", "allowed_imports",
       "total_allowed_modules", "safe_builtins", "python_version", "packages", "limits"});
  tool.annotations = OnlyTells();
  tool.icons = ToolIcons();
  return tool;
}

// Whether an entry of missing_walls, "root: names of files can be seen", is about `wall`.
bool IsMissing(const json::array& missing, std::string_view wall) {
  return std::any_of(missing.begin(), missing.end(), [&](const json::value& entry) {
    return std::string_view(entry.as_string()).starts_with(std::string(wall) + ":");
  });
}

// Of the modules a choice allows, which belong to which list that clients know.
json::object ImportsByCategory(const policy::ProfileChoice& choice) {
  std::vector<std::string> rest = choice.modules;
  json::object lists;
  for (const policy::Profile& profile : policy::Profiles()) {
    if (!profile.language_layer) continue;
    json::array names;
    for (const policy::ProfileEntry& entry : profile.modules) {
      const auto found = std::find(rest.begin(), rest.end(), entry.name);
      if (found == rest.end()) continue;
      names.emplace_back(entry.name);
      rest.erase(found);
    }
    lists[profile.category] = std::move(names);
  }
  lists["other"] = json::array(rest.begin(), rest.end());
  return lists;
}

json::object ProfilesInfo(const json::object& inventory, const policy::ProfileOffer& offer) {
  json::object profiles;
  for (const policy::Profile& profile : policy::Profiles()) {
    json::object info;
    info["enabled"] = offer.is_enabled(profile.name);
    const json::array& installed = inventory.at("installed").at(profile.name).as_array();
    json::array modules;
    json::object missing;
    for (const policy::ProfileEntry& entry : profile.modules) {
      modules.emplace_back(entry.name);
      const bool there =
          std::find(installed.begin(), installed.end(), json::value(entry.name)) != installed.end();
      if (!there) missing[entry.name] = entry.package;
    }
    info["modules"] = std::move(modules);
    info["not_installed"] = std::move(missing);
    info["summary"] = profile.summary;
    info["memory_limit"] = SizeText(profile.memory_bytes);
    info["language_layer"] = profile.language_layer;
    profiles[profile.name] = std::move(info);
  }
  return profiles;
}

}  // namespace

json::array WallsInWords(const json::array& missing) {
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
  for (const char* wall : {"Landlock: the file and network rules a second time",
                           "seccomp: an allow-list of system calls",
                           "limits: memory, processes, CPU, output and time, kept from outside",
                           "interpreter: a hook that says early and readably what was refused",
                           "language: code is checked before it runs, in every profile but full"}) {
    walls.emplace_back(wall);
  }
  return walls;
}

// Those of the interpreter that a program of this choice may use.
json::array SafeBuiltins(const json::object& inventory, const policy::ProfileChoice& choice) {
  json::array safe;
  for (const json::value& name : inventory.at("builtins").as_array()) {
    const auto is_it = [&](std::string_view other) { return name.as_string() == other; };
    const bool refused = choice.language_layer &&
                         std::ranges::any_of(wire::kRefusedBuiltins, is_it) &&
                         std::ranges::none_of(choice.builtins, is_it);
    if (!refused) safe.push_back(name);
  }
  return safe;
}

json::object ContainerMode(const ContainerTerms& terms) {
  json::object mode = {{"available", !terms.runtime.empty()}, {"enabled", terms.enabled}};
  if (!terms.runtime.empty()) {
    mode["runtime"] = terms.runtime;
    mode["image"] = terms.image.empty() ? "the host's Python" : terms.image;
    mode["warm_containers"] = terms.warm;
  } else if (!terms.reason.empty()) {
    mode["reason"] = terms.reason;
  }
  return mode;
}

json::object SandboxInfo(const json::object& inventory, const SandboxTerms& terms) {
  const RunLimits& limits = terms.limits;
  const policy::ProfileChoice choice = terms.offer.Default();
  const json::object imports = ImportsByCategory(choice);
  std::size_t count = 0;
  for (const auto& list : imports) count += list.value().get_array().size();
  json::object document;
  document["success"] = true;
  document["security_profiles"] = ProfilesInfo(inventory, terms.offer);
  document["default_profile"] = choice.name();
  document["resource_limits"] = {{"timeout", limits.timeout_s_default},
                                 {"max_timeout", limits.timeout_s_max},
                                 {"max_output_size", limits.output_chars_max},
                                 {"memory_limit", SizeText(choice.memory_bytes)},
                                 {"max_memory_limit", SizeText(limits.memory_bytes_max)}};
  document["container_mode"] = ContainerMode(terms.containers);
  document["restricted_python"] = choice.language_layer;
  document["timeout_seconds"] = limits.timeout_s_default;
  document["max_output_size"] = limits.output_chars_max;
  document["security_capabilities"] = {
      {"network_enabled", terms.offer.is_enabled("network")},
      {"filesystem_enabled", terms.offer.is_enabled("filesystem")},
      {"data_science_enabled", terms.offer.is_enabled("data_science")}};
  document["allowed_imports"] = imports;
  document["total_allowed_modules"] =
      choice.language_layer ? json::value(count) : inventory.at("importable_count");
  document["safe_builtins"] = SafeBuiltins(inventory, choice);
  document["import_policy"] = choice.language_layer ? "the listed modules and their submodules"
                                                    : "every installed module can be imported";
  for (const char* key : {"python_version", "python_implementation", "packages"}) {
    document[key] = inventory.at(key);
  }
  document["limits"] = Limits(limits, choice);
  const json::array& missing = inventory.at("missing_walls").as_array();
  document["writable_folders"] = IsMissing(missing, "root")
                                     ? json::array{"the current folder, which is HOME", "TMPDIR"}
                                     : json::array{"/work", "/tmp", "/dev/shm"};
  document["state_between_calls"] = false;
  document["walls"] = WallsInWords(missing);
  document["missing_walls"] = missing;
  return document;
}

SandboxInfoTool::SandboxInfoTool(BoxInventory& inventory, SandboxTerms terms)
    : inventory_(inventory), terms_(std::move(terms)), definition_(Definition()) {}

void SandboxInfoTool::Call(const json::object& arguments, mcp::ToolResponder responder) {
  const Status names = CheckArgumentNames(arguments, "get_sandbox_info", {});
  if (!names) return responder.Reply(ToToolResult(names.error()));
  inventory_.Get([responder, terms = terms_](const Result<json::object>& inventory) {
    if (!inventory) return responder.Fail(inventory.error());
    responder.Reply(ToToolResult(SandboxInfo(*inventory, terms)));
  });
}

void AddSandboxInfoResource(mcp::ResourceRegistry& resources, BoxInventory& inventory,
                            SandboxTerms terms) {
  mcp::ResourceDefinition definition;
  definition.uri = "glovebox://sandbox-info";
  definition.name = "sandbox-info";
  definition.title = "What the Python sandbox offers";
  definition.description =
      "Python's version, installed packages, limits and walls: what get_sandbox_info answers.";
  definition.mime_type = "application/json";
  definition.icons = ToolIcons();
  resources.Add(std::move(definition), [&inventory, terms = std::move(terms)](
                                           const std::string& uri, const auto& responder) {
    inventory.Get([uri, terms, responder](const Result<json::object>& found) {
      if (!found) return responder.Fail(found.error());
      mcp::ReadResourceResult result;
      result.contents.push_back(
          {uri, "application/json", mcp::WriteJson(SandboxInfo(*found, terms)), std::nullopt});
      result.cache = {kResourceTtlMs, true};
      responder.Reply(result);
    });
  });
}

}  // namespace glovebox

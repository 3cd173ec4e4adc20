#include "app/setting_table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"

namespace glovebox {
namespace {

using Unit = Setting::Unit;
using Settings = ServeSettings;

constexpr std::uint64_t kMega = 1ull << 20;
constexpr std::uint64_t kGiga = 1ull << 30;

std::vector<Setting> General() {
  return {
      {.name = "transport",
       .variables = {"SANDBOX_TRANSPORT"},
       .key = "transport",
       .target = &Settings::transport,
       .default_text = "stdio",
       .choices = {"stdio", "http"},
       .description = "How clients connect: one client on standard input and output, or any number "
                      "over Streamable HTTP."},
      {.name = "log-level",
       .variables = {"SANDBOX_LOG_LEVEL"},
       .key = "log_level",
       .target = &Settings::log_level,
       .default_text = "info",
       .choices = {"error", "warning", "info", "debug"},
       .description = "What is written to standard error; debug adds a line per request."},
  };
}

std::vector<Setting> Http() {
  return {
      {.name = "host",
       .variables = {"SANDBOX_HOST"},
       .key = "http.host",
       .target = &Settings::host,
       .default_text = "127.0.0.1",
       .form = "an address, or a name that resolves to one",
       .description = "The address to listen on; any but a loopback address needs a token."},
      {.name = "port",
       .variables = {"SANDBOX_PORT"},
       .key = "http.port",
       .target = &Settings::port,
       .default_text = "9015",
       .minimum = 0,
       .maximum = 65535,
       .description = "The port to listen on; 0 takes a free one, which the first line names."},
      {.name = "path",
       .variables = {"SANDBOX_PATH"},
       .key = "http.path",
       .target = &Settings::path,
       .default_text = "/mcp",
       .form = "a path that begins with /",
       .description = "The path of the MCP endpoint."},
      {.name = "api-token",
       .variables = {"SANDBOX_API_TOKEN"},
       .key = "http.api_token",
       .target = &Settings::api_token,
       .default_text = "",
       .form = "32 or more characters without blanks",
       .secret = true,
       .description = "The bearer token clients must send."},
      {.name = "token-file",
       .variables = {"SANDBOX_API_TOKEN_FILE"},
       .key = "http.token_file",
       .target = &Settings::token_file,
       .default_text = "",
       .form = "the path of a file",
       .description = "A file with one `name token` per line, for clients with quotas of their "
                      "own; others may not read it."},
      {.name = "server-names",
       .variables = {"SANDBOX_SERVER_NAMES"},
       .key = "http.server_names",
       .target = &Settings::server_names,
       .default_text = "",
       .form = "names, with or without port, separated by commas",
       .description =
           "Names clients may call the server by (Host header), besides localhost, or * for any; "
           "without them a loopback server takes no others, and one behind a token takes any."},
      {.name = "allowed-origins",
       .variables = {"SANDBOX_ALLOWED_ORIGINS"},
       .key = "http.allowed_origins",
       .target = &Settings::allowed_origins,
       .default_text = "",
       .form = "origins such as https://app.example.com, separated by commas",
       .description = "Web pages that may call the server (Origin header), besides those of "
                      "localhost, or * for any."},
      {.name = "max-connections",
       .variables = {"SANDBOX_MAX_CONNECTIONS"},
       .key = "http.max_connections",
       .target = &Settings::connections_max,
       .default_text = "1024",
       .minimum = 1,
       .maximum = 100'000,
       .description = "Connections open at once; further ones are closed."},
      {.name = "max-connections-per-peer",
       .variables = {"SANDBOX_MAX_CONNECTIONS_PER_PEER"},
       .key = "http.max_connections_per_peer",
       .target = &Settings::connections_per_peer_max,
       .default_text = "256",
       .minimum = 1,
       .maximum = 100'000,
       .description = "Connections open at once from one address."},
      {.name = "max-sessions",
       .variables = {"SANDBOX_MAX_SESSIONS"},
       .key = "http.max_sessions",
       .target = &Settings::sessions_max,
       .default_text = "1000",
       .minimum = 1,
       .maximum = 100'000,
       .description = "Sessions of clients that open with `initialize`; the longest idle one makes "
                      "room."},
      {.name = "max-body",
       .variables = {"SANDBOX_MAX_BODY_SIZE"},
       .key = "http.max_body",
       .target = &Settings::body_bytes_max,
       .default_text = "16m",
       .minimum = 64u << 10,
       .maximum = 256 * kMega,
       .unit = Unit::kBytes,
       .description = "The largest request body, beyond which the answer is 413."},
      {.name = "drain-time",
       .variables = {"SANDBOX_DRAIN_TIME"},
       .key = "http.drain_time",
       .target = &Settings::drain_seconds_max,
       .default_text = "30",
       .minimum = 0,
       .maximum = 3600,
       .unit = Unit::kSeconds,
       .description = "How long running requests may finish after SIGTERM."},
  };
}

std::vector<Setting> Profiles() {
  return {
      {.name = "default-profile",
       .variables = {"SANDBOX_DEFAULT_PROFILE"},
       .key = "profiles.default",
       .target = &Settings::default_profile,
       .default_text = "",
       .form = "an enabled profile, or several joined by +",
       .description = "What a call without `profile` gets; without a value it is basic and what is "
                      "enabled of data_science and filesystem."},
      {.name = "enable-full",
       .variables = {"SANDBOX_ENABLE_FULL"},
       .key = "profiles.full",
       .target = &Settings::enable_full,
       .default_text = "true",
       .description = "Callers may choose the profile full: every installed module, all of "
                      "Python, the same walls."},
      {.name = "enable-data-science",
       .variables = {"SANDBOX_ENABLE_DATA_SCIENCE"},
       .key = "profiles.data_science",
       .target = &Settings::enable_data_science,
       .default_text = "false",
       .description = "Callers may choose the profile data_science: numpy, pandas and the like."},
      {.name = "enable-filesystem",
       .variables = {"SANDBOX_ENABLE_FILESYSTEM"},
       .key = "profiles.filesystem",
       .target = &Settings::enable_filesystem,
       .default_text = "false",
       .description = "Callers may choose the profile filesystem: open(), modules for files, and "
                      "the folders of the next two settings."},
      {.name = "read-paths",
       .variables = {"SANDBOX_READ_PATHS"},
       .key = "profiles.read_paths",
       .target = &Settings::read_paths,
       .default_text = "",
       .form = "absolute paths of folders, separated by commas",
       .description = "Folders of this machine that the profile filesystem can read."},
      {.name = "write-paths",
       .variables = {"SANDBOX_WRITE_PATHS"},
       .key = "profiles.write_paths",
       .target = &Settings::write_paths,
       .default_text = "",
       .form = "absolute paths of folders, separated by commas",
       .description = "Folders of this machine that the profile filesystem can read and write."},
      {.name = "enable-network",
       .variables = {"SANDBOX_ENABLE_NETWORK"},
       .key = "profiles.network",
       .target = &Settings::enable_network,
       .default_text = "false",
       .description = "Callers may choose the profile network: modules for HTTP and the like, and "
                      "the hosts of the next setting."},
      {.name = "allowed-hosts",
       .variables = {"SANDBOX_ALLOWED_HOSTS"},
       .key = "profiles.allowed_hosts",
       .target = &Settings::allowed_hosts,
       .default_text = "",
       .form = "rules of hosts (docs/egress.md), separated by commas",
       .description = "What the profile network can reach: these hosts, and without any, nothing."},
  };
}

std::vector<Setting> Packages() {
  return {
      {.name = "allowed-imports",
       .variables = {"SANDBOX_ALLOWED_IMPORTS"},
       .key = "python.allowed_imports",
       .target = &Settings::allowed_imports,
       .default_text = "",
       .form = "names of modules, separated by commas",
       .description = "Instead of the modules of every profile but full."},
      {.name = "python-path",
       .variables = {"SANDBOX_PYTHON_PATH"},
       .key = "python.packages",
       .target = &Settings::python_path,
       .default_text = "",
       .form = "absolute paths of virtual environments or folders of packages, separated by commas",
       .description = "Packages of your own, read-only in every box, before the machine's; .pth "
                      "files in them are not read."},
      {.name = "return-mode",
       .variables = {"SANDBOX_RETURN_MODE"},
       .key = "python.return_mode",
       .target = &Settings::return_mode,
       .default_text = "xml",
       .choices = {"xml", "json"},
       .description = "The form in which run_python_code answers."},
  };
}

std::vector<Setting> Limits() {
  return {
      {.name = "timeout",
       .variables = {"SANDBOX_TIMEOUT", "SANDBOX_DEFAULT_TIMEOUT"},
       .key = "limits.timeout",
       .target = &Settings::timeout_seconds_default,
       .default_text = "30",
       .minimum = 1,
       .maximum = 86'400,
       .unit = Unit::kSeconds,
       .description = "The wall time of a run that does not ask for another one."},
      {.name = "max-timeout",
       .variables = {"SANDBOX_MAX_TIMEOUT"},
       .key = "limits.max_timeout",
       .target = &Settings::timeout_seconds_max,
       .default_text = "300",
       .minimum = 1,
       .maximum = 86'400,
       .unit = Unit::kSeconds,
       .description = "The longest wall time a run may ask for."},
      {.name = "memory",
       .variables = {"SANDBOX_DEFAULT_MEMORY_LIMIT"},
       .key = "limits.memory",
       .target = &Settings::memory_bytes_default,
       .default_text = "128m",
       .minimum = 16 * kMega,
       .maximum = 1024 * kGiga,
       .unit = Unit::kBytes,
       .description = "The memory of a run that does not ask for another amount; unless it is set, "
                      "profiles that need more have more (docs/profiles.md)."},
      {.name = "max-memory",
       .variables = {"SANDBOX_MAX_MEMORY_LIMIT"},
       .key = "limits.max_memory",
       .target = &Settings::memory_bytes_max,
       .default_text = "4g",
       .minimum = 16 * kMega,
       .maximum = 1024 * kGiga,
       .unit = Unit::kBytes,
       .description = "The most memory a run may ask for."},
      {.name = "max-output",
       .variables = {"SANDBOX_MAX_OUTPUT_SIZE"},
       .key = "limits.max_output",
       .target = &Settings::output_chars_max,
       .default_text = "1048576",
       .minimum = 1,
       .maximum = 16 * kMega,
       .unit = Unit::kCharacters,
       .description = "What is kept of standard output, and as much again of standard error."},
      {.name = "max-code",
       .variables = {"SANDBOX_MAX_CODE_SIZE"},
       .key = "limits.max_code",
       .target = &Settings::code_chars_max,
       .default_text = "100000",
       .minimum = 1,
       .maximum = 1'000'000,
       .unit = Unit::kCharacters,
       .description = "The longest program that is taken."},
      {.name = "boxes",
       .variables = {"SANDBOX_MAX_BOXES"},
       .key = "limits.boxes",
       .target = &Settings::boxes_max,
       .default_text = "16",
       .minimum = 1,
       .maximum = 1024,
       .description = "Runs at the same time; further ones wait their turn."},
      {.name = "queue",
       .variables = {"SANDBOX_MAX_QUEUE"},
       .key = "limits.queue",
       .target = &Settings::queue_max,
       .default_text = "256",
       .minimum = 0,
       .maximum = 100'000,
       .description = "Runs that wait their turn; further ones are refused."},
  };
}

std::vector<Setting> Pool() {
  return {
      {.name = "warm-boxes",
       .variables = {"SANDBOX_WARM_BOXES"},
       .key = "pool.warm_boxes",
       .target = &Settings::warm_boxes,
       .default_text = "8",
       .minimum = 0,
       .maximum = 1024,
       .description =
           "Boxes of each kind that are kept locked and waiting for a request, about 1 MB of "
           "memory "
           "each; 0 makes every box when its request comes. One waits until the first request, and "
           "after two minutes without one; on standard input and output no more than four, unless "
           "this is given."},
      {.name = "boxes-per-interpreter",
       .variables = {"SANDBOX_BOXES_PER_INTERPRETER"},
       .key = "pool.boxes_per_interpreter",
       .target = &Settings::boxes_per_interpreter,
       .default_text = "5000",
       .minimum = 1,
       .maximum = 1'000'000,
       .description =
           "Boxes that are forked from one warm interpreter, and so share its address layout and "
           "hash seed, before the next one takes over; 1 starts a fresh interpreter for every "
           "box."},
  };
}

std::vector<Setting> Host() {
  return {
      {.name = "allow-degraded",
       .variables = {"SANDBOX_ALLOW_DEGRADED"},
       .key = "boxes.allow_degraded",
       .target = &Settings::allow_degraded,
       .default_text = "false",
       .choices = {"false", "true"},
       .description = "Run where this host cannot hold boxes at full strength (no namespaces), "
                      "which is refused otherwise; every result then lists the missing walls."},
      {.name = "cgroup-parent",
       .variables = {"SANDBOX_CGROUP_PARENT"},
       .key = "boxes.cgroup_parent",
       .target = &Settings::cgroup_parent,
       .default_text = "",
       .form = "a cgroup this user may make groups in, such as /sys/fs/cgroup/glovebox",
       .description = "Where boxes have their cgroups; without it, the host's tree as root, and as "
                      "a normal user the own group where systemd delegates it."},
  };
}

std::vector<Setting> Audit() {
  return {
      {.name = "audit-log",
       .variables = {"SANDBOX_AUDIT_LOG"},
       .key = "audit.log",
       .target = &Settings::audit_log,
       .default_text = "",
       .form = "the path of a file",
       .description = "A file to which every execution adds a line: who, when, the hash of the "
                      "code, status, limits, events; `glovebox audit-log verify` finds changes."},
      {.name = "audit-log-code",
       .variables = {"SANDBOX_AUDIT_LOG_CODE"},
       .key = "audit.code",
       .target = &Settings::audit_log_code,
       .default_text = "false",
       .description = "The audit log has the text of programs too, not only its hash."},
      {.name = "audit-log-size",
       .variables = {"SANDBOX_AUDIT_LOG_SIZE"},
       .key = "audit.size",
       .target = &Settings::audit_log_bytes_max,
       .default_text = "64m",
       .minimum = 1024,
       .maximum = 1024 * kGiga,
       .unit = Unit::kBytes,
       .description = "At this size the audit log is put aside, as FILE.1, and a new one begun."},
      {.name = "audit-log-files",
       .variables = {"SANDBOX_AUDIT_LOG_FILES"},
       .key = "audit.files",
       .target = &Settings::audit_log_files,
       .default_text = "10",
       .minimum = 1,
       .maximum = 10'000,
       .description = "How many audit logs that were put aside are kept; older ones go."},
  };
}

std::vector<Setting> Containers() {
  return {
      {.name = "enable-containers",
       .variables = {"SANDBOX_ENABLE_CONTAINER_MODE"},
       .key = "containers.enabled",
       .target = &Settings::enable_containers,
       .default_text = "false",
       .description = "Whether execute_code takes use_container: the same call in an OCI "
                      "container, under gVisor where it is installed. Needs root."},
      {.name = "container-runtime",
       .variables = {"SANDBOX_CONTAINER_RUNTIME"},
       .key = "containers.runtime",
       .target = &Settings::container_runtime,
       .default_text = "auto",
       .choices = {"auto", "runsc", "crun", "runc", "podman", "docker"},
       .description = "Which runtime starts containers; auto takes the first of runsc (gVisor), "
                      "crun, runc, podman and docker that works here."},
      {.name = "container-image",
       .variables = {"SANDBOX_CONTAINER_IMAGE"},
       .key = "containers.image",
       .target = &Settings::container_image,
       .default_text = "",
       .form = "the absolute path of a folder, or the name of an engine's image",
       .description = "The image of containers: a folder with an unpacked root file system, as "
                      "`make build-sandbox` makes one, or with an OCI image layout, or what "
                      "podman or docker has under that name; without it they see the host's "
                      "Python."},
      {.name = "warm-containers",
       .variables = {"SANDBOX_WARM_CONTAINERS"},
       .key = "containers.warm",
       .target = &Settings::warm_containers,
       .default_text = "2",
       .minimum = 0,
       .maximum = 256,
       .description = "Containers of each kind that are started and wait for a request; each "
                      "takes some 40 MB."},
  };
}

std::vector<Setting> Fairness() {
  return {
      {.name = "rate",
       .variables = {"SANDBOX_RATE_LIMIT"},
       .key = "fairness.rate",
       .target = &Settings::requests_per_second,
       .default_text = "100",
       .minimum = 0,
       .maximum = 1'000'000,
       .unit = Unit::kPerSecond,
       .description = "Requests one client may make in the long run, 0 for any number; a client is "
                      "a token, or without tokens an address."},
      {.name = "burst",
       .variables = {"SANDBOX_RATE_BURST"},
       .key = "fairness.burst",
       .target = &Settings::burst,
       .default_text = "200",
       .minimum = 1,
       .maximum = 1'000'000,
       .description = "Requests one client may make at once after a rest."},
      {.name = "max-concurrent",
       .variables = {"SANDBOX_MAX_CONCURRENT"},
       .key = "fairness.max_concurrent",
       .target = &Settings::concurrent_max,
       .default_text = "0",
       .minimum = 0,
       .maximum = 100'000,
       .description = "Requests of one client in work at once; 0 means half as many as there are "
                      "boxes."},
  };
}

std::vector<Setting> Concatenate() {
  std::vector<Setting> all;
  for (std::vector<Setting> part : {General(), Http(), Profiles(), Packages(), Limits(), Pool(),
                                    Containers(), Host(), Audit(), Fairness()}) {
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

std::string Quoted(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    text += (text.empty() ? "" : word == words.back() ? " or " : ", ") + std::string(word);
  }
  return text;
}

Result<std::uint64_t> ParseNumber(std::string_view text, Unit unit) {
  if (unit == Unit::kBytes) return ParseSize(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error(Errc::kInvalidArgument, "a whole number");
  }
  return number;
}

// As people write it, in any case.
std::optional<bool> ParseFlag(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"true", "1", "yes", "on"}) {
    if (lower == word) return true;
  }
  for (const char* word : {"false", "0", "no", "off"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view piece : Split(text, ',')) {
    if (const std::string_view item = Trim(piece); !item.empty()) items.emplace_back(item);
  }
  return items;
}

}  // namespace

std::string_view Setting::section() const {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

std::string Setting::Rule() const {
  if (!choices.empty()) return Quoted(choices);
  if (std::holds_alternative<bool ServeSettings::*>(target)) return "true or false";
  if (!std::holds_alternative<std::uint64_t ServeSettings::*>(target)) return std::string(form);
  if (unit == Unit::kBytes) {
    return "a size such as 128m, from " + SizeText(minimum) + " to " + SizeText(maximum);
  }
  std::string rule =
      "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
  if (unit == Unit::kSeconds) rule += " (seconds)";
  if (unit == Unit::kCharacters) rule += " (characters)";
  if (unit == Unit::kPerSecond) rule += " (per second)";
  return rule;
}

Status Setting::Apply(std::string_view text, ServeSettings& settings) const {
  if (const auto* list = std::get_if<std::vector<std::string> ServeSettings::*>(&target)) {
    settings.*(*list) = SplitList(text);
    return {};
  }
  const std::string_view trimmed = Trim(text);
  if (const auto* member = std::get_if<std::string ServeSettings::*>(&target)) {
    const bool one_of_them = std::find(choices.begin(), choices.end(), trimmed) != choices.end();
    if (!choices.empty() && !one_of_them) return Error(Errc::kInvalidArgument, Rule());
    settings.*(*member) = std::string(trimmed);
    return {};
  }
  if (const auto* flag = std::get_if<bool ServeSettings::*>(&target)) {
    const std::optional<bool> value = ParseFlag(trimmed);
    if (!value) return Error(Errc::kInvalidArgument, Rule());
    settings.*(*flag) = *value;
    return {};
  }
  const auto number = ParseNumber(trimmed, unit);
  if (!number || *number < minimum || *number > maximum) {
    return Error(Errc::kInvalidArgument, Rule());
  }
  settings.*std::get<std::uint64_t ServeSettings::*>(target) = *number;
  return {};
}

const std::vector<Setting>& SettingTable() {
  static const std::vector<Setting> table = Concatenate();
  return table;
}

}  // namespace glovebox

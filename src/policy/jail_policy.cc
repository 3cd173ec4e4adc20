#include "policy/jail_policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "policy/toml_reader.h"

namespace glovebox::policy {
namespace {

constexpr double kDurationMax = 30.0 * 24 * 3600;
constexpr std::uint64_t kMemoryMin = 16u << 20;
constexpr std::uint64_t kIoMin = 64u << 10;  // slower, and loading a program takes minutes
constexpr std::uint32_t kPidsMax = 32'768;
constexpr std::uint32_t kFilesMax = 1u << 20;

Result<std::vector<std::string>> ReadList(const toml::table& table, std::string_view key) {
  std::vector<std::string> out;
  const toml::node* node = table.get(key);
  if (node == nullptr) return out;
  const std::string rule = "`" + std::string(key) + "` must be a list of texts";
  const toml::array* list = node->as_array();
  if (list == nullptr) return InvalidPolicy(rule);
  for (const toml::node& entry : *list) {
    const auto text = entry.value_exact<std::string>();
    if (!text || text->empty()) return InvalidPolicy(rule);
    out.push_back(*text);
  }
  return out;
}

Result<std::vector<std::string>> ReadPaths(const toml::table& table, std::string_view key) {
  std::vector<std::string> paths = TRY(ReadList(table, key));
  for (const std::string& path : paths) {
    if (path.front() == '/' || path == "~" || path.starts_with("~/")) continue;
    return InvalidPolicy("`" + std::string(key) + "`: '" + path +
                         "' must be absolute or begin with ~/, because a policy file is used from "
                         "any folder");
  }
  return paths;
}

Result<std::optional<std::string>> ReadWord(const toml::table& table, std::string_view key) {
  if (!table.contains(key)) return std::optional<std::string>();
  const auto text = table[key].value_exact<std::string>();
  if (!text) return InvalidPolicy("`" + std::string(key) + "` must be a text");
  return text;
}

Result<std::optional<std::uint32_t>> ReadCount(const toml::table& table, std::string_view key) {
  if (!table.contains(key)) return std::optional<std::uint32_t>();
  const auto value = table[key].value_exact<std::int64_t>();
  if (!value || *value < 0 || *value > INT32_MAX) {
    return InvalidPolicy("`" + std::string(key) + "` must be a whole number");
  }
  return std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value));
}

Result<std::optional<double>> ReadDuration(const toml::table& table, std::string_view key) {
  const std::optional<std::string> text = TRY(ReadWord(table, key));
  if (!text) return std::optional<double>();
  auto seconds = ParseDuration(*text);
  if (!seconds) return std::move(seconds).error().Within("`" + std::string(key) + "`");
  return std::optional<double>(*seconds);
}

Status ReadLimits(const toml::table& table, JailPolicy& policy) {
  if (const auto memory = TRY(ReadWord(table, "memory"))) {
    auto bytes = ParseSize(*memory);
    if (!bytes) return std::move(bytes).error().Within("`memory`");
    policy.memory_bytes = *bytes;
  }
  if (const auto io = TRY(ReadWord(table, "io"))) {
    auto rate = ParseSize(*io);
    if (!rate) return std::move(rate).error().Within("`io`");
    policy.io_bytes_per_second = *rate;
  }
  policy.pids = TRY(ReadCount(table, "pids"));
  policy.files = TRY(ReadCount(table, "files"));
  if (table.contains("cpu")) {
    policy.cpus = table["cpu"].value<double>();
    if (!policy.cpus) return InvalidPolicy("`cpu` must be a number of CPUs, as in 0.5");
  }
  policy.timeout_seconds = TRY(ReadDuration(table, "timeout"));
  policy.idle_seconds = TRY(ReadDuration(table, "idle"));
  return CheckJailLimits(policy);
}

template <typename T>
void Extend(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

template <typename T>
void Replace(std::optional<T>& value, const std::optional<T>& more) {
  if (more) value = more;
}

}  // namespace

Result<double> ParseDuration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}}};
  const Error rule(Errc::kInvalidArgument,
                   "'" + std::string(text) +
                       "' is no time above 0 and up to 720h: write a number "
                       "and ms, s, m or h, as in 30s");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return rule;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, seconds] : kUnits) {
    if (name != unit) continue;
    const double total = value * seconds;
    if (std::isfinite(total) && total > 0 && total <= kDurationMax) return total;
  }
  return rule;
}

Result<ArgumentGrant> ParseArgumentGrant(std::string_view text) {
  if (text == "none") return ArgumentGrant::kNone;
  if (text == "read") return ArgumentGrant::kRead;
  if (text == "write") return ArgumentGrant::kWrite;
  return Error(Errc::kInvalidArgument, "'" + std::string(text) + "' is none of none, read, write");
}

std::string_view ArgumentGrantText(ArgumentGrant grant) {
  switch (grant) {
    case ArgumentGrant::kNone: break;
    case ArgumentGrant::kRead: return "read";
    case ArgumentGrant::kWrite: return "write";
  }
  return "none";
}

std::string DurationText(double seconds) {
  const auto milliseconds = static_cast<std::uint64_t>(std::llround(seconds * 1000));
  if (milliseconds % 3'600'000 == 0) return std::to_string(milliseconds / 3'600'000) + "h";
  if (milliseconds % 60'000 == 0) return std::to_string(milliseconds / 60'000) + "m";
  if (milliseconds % 1000 == 0) return std::to_string(milliseconds / 1000) + "s";
  return std::to_string(milliseconds) + "ms";
}

Status CheckEnvironmentWord(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const bool plain = !name.empty() && (name[0] < '0' || name[0] > '9') &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                              (c >= '0' && c <= '9') || c == '_';
                     });
  if (plain && word.find('\0') == std::string_view::npos) return {};
  return Error(Errc::kInvalidArgument,
               "'" + std::string(name) + "' is no name of a variable: write NAME or NAME=VALUE");
}

Status CheckJailProfile(std::string_view name) {
  if (std::find(std::begin(kJailProfiles), std::end(kJailProfiles), name) !=
      std::end(kJailProfiles)) {
    return {};
  }
  return Error(Errc::kInvalidArgument,
               "'" + std::string(name) + "' is no profile: use node, python or generic");
}

Status CheckJailLimits(const JailPolicy& policy) {
  const auto refuse = [](const std::string& text) { return Error(Errc::kInvalidArgument, text); };
  if (policy.memory_bytes && *policy.memory_bytes < kMemoryMin) {
    return refuse("memory: a program needs at least " + SizeText(kMemoryMin));
  }
  if (policy.io_bytes_per_second && *policy.io_bytes_per_second < kIoMin) {
    return refuse("io: at least " + SizeText(kIoMin) + " in a second");
  }
  if (policy.pids && (*policy.pids < 1 || *policy.pids > kPidsMax)) {
    return refuse("pids: between 1 and " + std::to_string(kPidsMax));
  }
  if (policy.cpus && !(*policy.cpus >= 0.01 && *policy.cpus <= 1024)) {
    return refuse("cpu: between 0.01 and 1024 CPUs");
  }
  if (policy.files && (*policy.files < 16 || *policy.files > kFilesMax)) {
    return refuse("files: between 16 and " + std::to_string(kFilesMax) + " open files");
  }
  return {};
}

Result<JailPolicy> ParseJailPolicy(std::string_view text) {
  const toml::table document = TRY(ParseToml(text));
  TRY(CheckKeys(document, {"summary", "profile", "read", "write", "allow-sensitive", "net", "env",
                           "arguments", "memory", "pids", "cpu", "files", "io", "timeout", "idle",
                           "reasons"}));
  JailPolicy policy;
  policy.summary = TRY(ReadWord(document, "summary")).value_or("");
  policy.profile = TRY(ReadWord(document, "profile"));
  if (policy.profile) TRY(CheckJailProfile(*policy.profile));
  policy.read = TRY(ReadPaths(document, "read"));
  policy.write = TRY(ReadPaths(document, "write"));
  policy.allow_sensitive = TRY(ReadPaths(document, "allow-sensitive"));
  policy.net = TRY(ReadList(document, "net"));
  policy.env = TRY(ReadList(document, "env"));
  for (const std::string& word : policy.env) {
    if (Status named = CheckEnvironmentWord(word); !named) {
      return std::move(named).error().Within("`env`");
    }
  }
  if (const auto arguments = TRY(ReadWord(document, "arguments"))) {
    auto grant = ParseArgumentGrant(*arguments);
    if (!grant) return std::move(grant).error().Within("`arguments`");
    policy.arguments = *grant;
  }
  if (document.contains("reasons")) {
    policy.reasons = document["reasons"].value_exact<bool>();
    if (!policy.reasons) return InvalidPolicy("`reasons` must be true or false");
  }
  TRY(ReadLimits(document, policy));
  return policy;
}

JailPolicy Merge(JailPolicy base, const JailPolicy& more) {
  if (!more.summary.empty()) base.summary = more.summary;
  Replace(base.profile, more.profile);
  Extend(base.read, more.read);
  Extend(base.write, more.write);
  Extend(base.allow_sensitive, more.allow_sensitive);
  Extend(base.net, more.net);
  Extend(base.env, more.env);
  Replace(base.arguments, more.arguments);
  Replace(base.memory_bytes, more.memory_bytes);
  Replace(base.pids, more.pids);
  Replace(base.cpus, more.cpus);
  Replace(base.files, more.files);
  Replace(base.io_bytes_per_second, more.io_bytes_per_second);
  Replace(base.timeout_seconds, more.timeout_seconds);
  Replace(base.idle_seconds, more.idle_seconds);
  Replace(base.reasons, more.reasons);
  return base;
}

}  // namespace glovebox::policy

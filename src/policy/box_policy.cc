#include "policy/box_policy.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "policy/toml_reader.h"

namespace glovebox::policy {
namespace {

Result<std::string> Expand(const std::string& text, const PolicyVariables& variables) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> known = {
      {{"python_stdlib", &variables.python_stdlib},
       {"python_version", &variables.python_version},
       {"multiarch", &variables.multiarch}}};
  std::string out;
  std::size_t position = 0;
  while (true) {
    const std::size_t start = text.find("${", position);
    if (start == std::string::npos) return out + text.substr(position);
    const std::size_t end = text.find('}', start);
    if (end == std::string::npos) return InvalidPolicy("'" + text + "': '${' without '}'");
    const std::string name = text.substr(start + 2, end - start - 2);
    const auto* entry = std::find_if(known.begin(), known.end(),
                                     [&](const auto& item) { return item.first == name; });
    if (entry == known.end()) {
      return InvalidPolicy("unknown variable '" + name +
                           "'; known are python_stdlib, python_version and multiarch");
    }
    out += text.substr(position, start - position) + *entry->second;
    position = end + 1;
  }
}

Result<std::uint64_t> ReadNumber(const toml::table& table, std::string_view key) {
  const std::optional<std::int64_t> value = table[key].value<std::int64_t>();
  if (!value || *value < 0) {
    return InvalidPolicy("`" + std::string(key) + "` must be a number that is not negative");
  }
  return static_cast<std::uint64_t>(*value);
}

Result<std::string> ReadPath(const toml::table& table) {
  return ReadText(table, "path", "say where it appears in the box");
}

Status CheckAbsolute(const std::string& path) {
  if (path[0] == '/') return {};
  return InvalidPolicy("`path` must be absolute");
}

Status CheckReason(const toml::table& table) {
  TRY(ReadText(table, "why", "say who needs it"));
  return {};
}

struct KindWords {
  std::string_view name;
  RootItemKind kind;
  std::string_view text_key;  // the key that fills RootItem::text; empty when there is none
};
constexpr std::array<KindWords, 5> kKinds = {{{"bind", RootItemKind::kBind, ""},
                                              {"device", RootItemKind::kDevice, ""},
                                              {"file", RootItemKind::kFile, "text"},
                                              {"link", RootItemKind::kLink, "target"},
                                              {"links_in", RootItemKind::kLinksIn, "prefix"}}};

Result<std::optional<RootItem>> ParseRootItem(const toml::table& table, const KindWords& words,
                                              const PolicyVariables& variables) {
  TRY(CheckKeys(table, {"path", "why", "optional", "arch", words.text_key}));
  TRY(CheckReason(table));
  const std::string path = TRY(Expand(TRY(ReadPath(table)), variables));
  TRY(CheckAbsolute(path));
  if (const auto arch = table["arch"].value<std::string>(); arch && *arch != variables.arch) {
    return std::optional<RootItem>();
  }
  RootItem item{words.kind, path, {}, table["optional"].value_or(false)};
  if (!words.text_key.empty()) {
    const std::string text = TRY(ReadText(table, words.text_key, "this kind of entry needs it"));
    item.text = TRY(Expand(text, variables));
  }
  return std::optional<RootItem>(std::move(item));
}

Result<TmpfsItem> ParseTmpfsItem(const toml::table& table) {
  TRY(CheckKeys(table, {"path", "size", "inodes", "why"}));
  TRY(CheckReason(table));
  TmpfsItem item;
  item.path = TRY(ReadPath(table));
  TRY(CheckAbsolute(item.path));
  item.size_bytes = TRY(ParseSize(TRY(ReadText(table, "size", "as in 64m"))));
  item.inodes = TRY(ReadNumber(table, "inodes"));
  return item;
}

Result<int> ResourceNumber(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, int>, 11> kResources = {
      {{"core", RLIMIT_CORE},
       {"cpu", RLIMIT_CPU},
       {"data", RLIMIT_DATA},
       {"fsize", RLIMIT_FSIZE},
       {"memlock", RLIMIT_MEMLOCK},
       {"msgqueue", RLIMIT_MSGQUEUE},
       {"nice", RLIMIT_NICE},
       {"nofile", RLIMIT_NOFILE},
       {"nproc", RLIMIT_NPROC},
       {"rtprio", RLIMIT_RTPRIO},
       {"sigpending", RLIMIT_SIGPENDING}}};
  for (const auto& [known, number] : kResources) {
    if (known == name) return number;
  }
  return InvalidPolicy("unknown resource '" + name + "'");
}

Result<RlimitItem> ParseRlimitItem(const toml::table& table) {
  TRY(CheckKeys(table, {"resource", "value", "why"}));
  TRY(CheckReason(table));
  RlimitItem item;
  item.resource = TRY(ResourceNumber(TRY(ReadText(table, "resource", "as in nofile"))));
  item.value = TRY(ReadNumber(table, "value"));
  return item;
}

// "[[bind]] entry at line 12": what a person needs to find it.
std::string Where(std::string_view kind, const toml::table& table) {
  return "box policy: [[" + std::string(kind) + "]] entry at line " +
         std::to_string(table.source().begin.line);
}

// Reads the entries of one kind with `parse`, which says what is wrong with one of them.
template <typename Parse>
Status ForEachEntry(const toml::table& parent, std::string_view kind, Parse parse) {
  for (const toml::table* table : TRY(ReadEntries(parent, kind))) {
    if (Status parsed = parse(*table); !parsed) {
      return std::move(parsed).error().Within(Where(kind, *table));
    }
  }
  return {};
}

Status ParseRoot(const toml::table& document, const PolicyVariables& variables, BoxPolicy& policy) {
  const toml::table* root = document["root"].as_table();
  if (root == nullptr) return InvalidPolicy("box policy: [root] is missing");
  TRY(CheckKeys(*root, {"bind", "device", "file", "link", "links_in"}));
  for (const KindWords& words : kKinds) {
    TRY(ForEachEntry(*root, words.name, [&](const toml::table& table) -> Status {
      std::optional<RootItem> item = TRY(ParseRootItem(table, words, variables));
      if (item) policy.root.push_back(std::move(*item));
      return {};
    }));
  }
  return {};
}

Status ParseEnvironment(const toml::table& document, BoxPolicy& policy) {
  const toml::table* environment = document["environment"].as_table();
  if (environment == nullptr) return {};
  for (const auto& [key, node] : *environment) {
    const auto value = node.value<std::string>();
    if (!value) {
      return InvalidPolicy("box policy: environment " + std::string(key.str()) + " must be a text");
    }
    policy.environment.emplace_back(std::string(key.str()), *value);
  }
  return {};
}

// Absolute, and spelt the one way in which prefixes tell what lies within what.
bool IsPlainPath(const std::string& path) {
  const std::filesystem::path parsed(path);
  return path.size() > 1 && parsed.is_absolute() && path.back() != '/' &&
         parsed.lexically_normal().native() == path;
}

bool IsWithin(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Whether something mounted at `path` would cover what the policy places there.
bool HidesPolicy(const std::string& path, const BoxPolicy& policy) {
  const auto covered = [&](const auto& item) { return IsWithin(item.path, path); };
  return std::any_of(policy.root.begin(), policy.root.end(), covered) ||
         std::any_of(policy.tmpfs.begin(), policy.tmpfs.end(), covered);
}

}  // namespace

Result<BoxPolicy> ParseBoxPolicy(std::string_view text, const PolicyVariables& variables) {
  const toml::table document = TRY(ParseToml(text));
  BoxPolicy policy;
  TRY(CheckKeys(document, {"root", "tmpfs", "environment", "rlimit"}));
  TRY(ParseRoot(document, variables, policy));
  TRY(ParseEnvironment(document, policy));
  TRY(ForEachEntry(document, "tmpfs", [&](const toml::table& table) -> Status {
    policy.tmpfs.push_back(TRY(ParseTmpfsItem(table)));
    return {};
  }));
  TRY(ForEachEntry(document, "rlimit", [&](const toml::table& table) -> Status {
    policy.rlimits.push_back(TRY(ParseRlimitItem(table)));
    return {};
  }));
  return policy;
}

Status AddGrant(const FolderGrant& grant, BoxPolicy& policy) {
  const std::string what = "granting " + grant.host_path + " as " + grant.box_path;
  for (const std::string& path : {grant.host_path, grant.box_path}) {
    if (!IsPlainPath(path)) {
      return InvalidPolicy(what + ": '" + path +
                           "' must be absolute, without a last '/' and without '.' or '..'");
    }
  }
  for (const TmpfsItem& item : policy.tmpfs) {
    if (!IsWithin(grant.box_path, item.path)) continue;
    return InvalidPolicy(what + ": every box has " + item.path +
                         " to itself, which would hide it; choose a place outside");
  }
  if (IsWithin(grant.box_path, "/proc") || HidesPolicy(grant.box_path, policy)) {
    return InvalidPolicy(what + ": that place holds a part of the box itself; choose another");
  }
  policy.root.push_back(
      {RootItemKind::kBind, grant.box_path, grant.host_path, false, grant.writable});
  return {};
}

}  // namespace glovebox::policy

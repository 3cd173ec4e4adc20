#include "policy/box_policy.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>

#include <toml++/toml.h>

namespace glovebox::policy {
namespace {

Error Invalid(const std::string& entry, const std::string& rule) {
  return Error(Errc::kInvalidArgument, "box policy: " + entry + ": " + rule);
}

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
    if (end == std::string::npos) return Invalid(text, "'${' without '}'");
    const std::string name = text.substr(start + 2, end - start - 2);
    const auto* entry = std::find_if(known.begin(), known.end(),
                                     [&](const auto& item) { return item.first == name; });
    if (entry == known.end()) {
      return Invalid(text, "unknown variable '" + name +
                               "'; known are python_stdlib, python_version and multiarch");
    }
    out += text.substr(position, start - position) + *entry->second;
    position = end + 1;
  }
}

Status CheckKeys(const toml::table& table, const std::string& entry,
                 std::initializer_list<std::string_view> allowed) {
  for (const auto& [key, node] : table) {
    if (std::find(allowed.begin(), allowed.end(), key.str()) == allowed.end()) {
      return Invalid(entry, "unknown key '" + std::string(key.str()) + "'");
    }
  }
  return {};
}

Result<std::string> RequiredText(const toml::table& table, const std::string& entry,
                                 std::string_view key) {
  const std::optional<std::string> value = table[key].value<std::string>();
  if (!value) return Invalid(entry, "needs a text '" + std::string(key) + "'");
  return *value;
}

Result<std::uint64_t> RequiredNumber(const toml::table& table, const std::string& entry,
                                     std::string_view key) {
  const std::optional<std::int64_t> value = table[key].value<std::int64_t>();
  if (!value || *value < 0) {
    return Invalid(entry, "needs a non-negative number '" + std::string(key) + "'");
  }
  return static_cast<std::uint64_t>(*value);
}

// The tables of [[name]] in order; absent is empty.
Result<std::vector<const toml::table*>> Tables(const toml::table& parent, std::string_view name) {
  std::vector<const toml::table*> out;
  const toml::node* node = parent.get(name);
  if (node == nullptr) return out;
  const toml::array* array = node->as_array();
  if (array == nullptr)
    return Invalid(std::string(name), "must be written as [[" + std::string(name) + "]]");
  for (const toml::node& element : *array) {
    if (element.as_table() == nullptr) return Invalid(std::string(name), "must hold tables");
    out.push_back(element.as_table());
  }
  return out;
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
  const std::string path = TRY(RequiredText(table, std::string(words.name), "path"));
  const std::string entry = std::string(words.name) + " " + path;
  TRY(CheckKeys(table, entry, {"path", "why", "optional", "arch", words.text_key}));
  TRY(RequiredText(table, entry, "why"));
  const std::string expanded = TRY(Expand(path, variables));
  if (expanded.empty() || expanded[0] != '/') return Invalid(entry, "the path must be absolute");
  if (const auto arch = table["arch"].value<std::string>(); arch && *arch != variables.arch) {
    return std::optional<RootItem>();
  }
  RootItem item{words.kind, expanded, {}, table["optional"].value_or(false)};
  if (!words.text_key.empty()) {
    item.text = TRY(Expand(TRY(RequiredText(table, entry, words.text_key)), variables));
  }
  return std::optional<RootItem>(std::move(item));
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
  return Invalid("rlimit " + name, "unknown resource");
}

Status ParseRoot(const toml::table& document, const PolicyVariables& variables, BoxPolicy& policy) {
  const toml::table* root = document["root"].as_table();
  if (root == nullptr) return Invalid("root", "is missing");
  TRY(CheckKeys(*root, "root", {"bind", "device", "file", "link", "links_in"}));
  for (const KindWords& words : kKinds) {
    for (const toml::table* table : TRY(Tables(*root, words.name))) {
      std::optional<RootItem> item = TRY(ParseRootItem(*table, words, variables));
      if (item) policy.root.push_back(std::move(*item));
    }
  }
  return {};
}

Status ParseTmpfs(const toml::table& document, BoxPolicy& policy) {
  for (const toml::table* table : TRY(Tables(document, "tmpfs"))) {
    const std::string path = TRY(RequiredText(*table, "tmpfs", "path"));
    const std::string entry = "tmpfs " + path;
    TRY(CheckKeys(*table, entry, {"path", "size", "inodes", "why"}));
    TRY(RequiredText(*table, entry, "why"));
    if (path.empty() || path[0] != '/') return Invalid(entry, "the path must be absolute");
    const std::uint64_t size = TRY(ParseSize(TRY(RequiredText(*table, entry, "size"))));
    policy.tmpfs.push_back({path, size, TRY(RequiredNumber(*table, entry, "inodes"))});
  }
  return {};
}

Status ParseRlimits(const toml::table& document, BoxPolicy& policy) {
  for (const toml::table* table : TRY(Tables(document, "rlimit"))) {
    const std::string resource = TRY(RequiredText(*table, "rlimit", "resource"));
    const std::string entry = "rlimit " + resource;
    TRY(CheckKeys(*table, entry, {"resource", "value", "why"}));
    TRY(RequiredText(*table, entry, "why"));
    policy.rlimits.push_back(
        {TRY(ResourceNumber(resource)), TRY(RequiredNumber(*table, entry, "value"))});
  }
  return {};
}

Status ParseEnvironment(const toml::table& document, BoxPolicy& policy) {
  const toml::table* environment = document["environment"].as_table();
  if (environment == nullptr) return {};
  for (const auto& [key, node] : *environment) {
    const auto value = node.value<std::string>();
    if (!value) return Invalid("environment " + std::string(key.str()), "must be a text");
    policy.environment.emplace_back(std::string(key.str()), *value);
  }
  return {};
}

}  // namespace

Result<BoxPolicy> ParseBoxPolicy(std::string_view text, const PolicyVariables& variables) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return Invalid("line " + std::to_string(error.source().begin.line),
                   std::string(error.description()));
  }
  BoxPolicy policy;
  TRY(CheckKeys(document, "top level", {"root", "tmpfs", "environment", "rlimit"}));
  TRY(ParseRoot(document, variables, policy));
  TRY(ParseTmpfs(document, policy));
  TRY(ParseEnvironment(document, policy));
  TRY(ParseRlimits(document, policy));
  return policy;
}

Result<std::uint64_t> ParseSize(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  unsigned shift = 64;
  if (suffix.empty() || suffix == "b" || suffix == "B") shift = 0;
  if (suffix == "k" || suffix == "K") shift = 10;
  if (suffix == "m" || suffix == "M") shift = 20;
  if (suffix == "g" || suffix == "G") shift = 30;
  if (error != std::errc() || shift == 64 || (number << shift) >> shift != number) {
    return Error(Errc::kInvalidArgument,
                 "'" + std::string(text) +
                     "' is not a size: write a whole number and b, k, m or g, as in 128m");
  }
  return number << shift;
}

}  // namespace glovebox::policy

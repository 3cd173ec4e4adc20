#include "policy/toml_reader.h"

#include <algorithm>
#include <optional>

namespace glovebox::policy {

Error InvalidPolicy(const std::string& message) { return Error(Errc::kInvalidArgument, message); }

Result<toml::table> ParseToml(std::string_view text) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return InvalidPolicy("line " + std::to_string(parsed.error().source().begin.line) +
                         ": not TOML: " + std::string(parsed.error().description()));
  }
  return std::move(parsed).table();
}

Status CheckKeys(const toml::table& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    std::string list;
    for (const std::string_view name : known) {
      if (name.empty()) continue;
      list += list.empty() ? "`" : ", `";
      list += name;
      list += "`";
    }
    return InvalidPolicy("unknown key `" + std::string(key.str()) + "`: the keys here are " + list);
  }
  return {};
}

Result<std::string> ReadText(const toml::table& table, std::string_view key,
                             const std::string& fix) {
  const std::optional<std::string> text = table[key].value_exact<std::string>();
  if (!text || text->empty()) {
    return InvalidPolicy("`" + std::string(key) + "` is missing: " + fix);
  }
  return *text;
}

Result<std::vector<const toml::table*>> ReadEntries(const toml::table& parent,
                                                    std::string_view kind) {
  std::vector<const toml::table*> entries;
  const toml::node* node = parent.get(kind);
  if (node == nullptr) return entries;
  const Error not_tables = InvalidPolicy("`" + std::string(kind) + "` must be written as [[" +
                                         std::string(kind) + "]] entries");
  if (!node->is_array()) return not_tables;
  for (const toml::node& element : *node->as_array()) {
    if (element.as_table() == nullptr) return not_tables;
    entries.push_back(element.as_table());
  }
  return entries;
}

}  // namespace glovebox::policy

#include "policy/toml_settings.h"

#include <optional>
#include <utility>

#include "policy/toml_reader.h"

namespace glovebox::policy {
namespace {

int LineOf(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

// Nothing when the list holds something else than strings that can be joined.
std::optional<std::string> Join(const toml::array& list) {
  std::string joined;
  for (const toml::node& element : list) {
    const std::optional<std::string> text = element.value_exact<std::string>();
    if (!text || text->find(',') != std::string::npos) return std::nullopt;
    if (!joined.empty()) joined += ',';
    joined += *text;
  }
  return joined;
}

std::optional<std::string> TextOf(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  if (const toml::array* list = node.as_array()) return Join(*list);
  return std::nullopt;
}

Status Flatten(const toml::table& table, const std::string& prefix,
               std::vector<TomlSetting>& settings) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      TRY(Flatten(*inner, name + ".", settings));
      continue;
    }
    std::optional<std::string> text = TextOf(node);
    if (!text) {
      return InvalidPolicy("line " + std::to_string(LineOf(node)) + ": `" + name +
                           "` must be a string, a whole number, true or false, or a list of "
                           "strings without commas");
    }
    settings.push_back({name, std::move(*text), LineOf(node)});
  }
  return {};
}

}  // namespace

Result<std::vector<TomlSetting>> ReadTomlSettings(std::string_view text) {
  const toml::table document = TRY(ParseToml(text));
  std::vector<TomlSetting> settings;
  TRY(Flatten(document, "", settings));
  return settings;
}

}  // namespace glovebox::policy

#include "mcp/resource_registry.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/result.h"
#include "mcp/list_method.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

constexpr int kLegacyResourceNotFound = -32002;

// Text and variables by turns, as in "test://item/{id}/data". `variable` is empty after the last
// text.
struct Part {
  std::string_view text;
  std::string_view variable;
};

bool IsVariableName(std::string_view name) {
  constexpr std::string_view kAlphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.find_first_not_of(kAlphabet) == std::string_view::npos;
}

// Nothing for what is not level 1 of RFC 6570, or could match in more than one way.
std::optional<std::vector<Part>> ParseTemplate(std::string_view text) {
  std::vector<Part> parts;
  std::set<std::string_view> names;
  while (true) {
    const std::size_t open = text.find_first_of("{}");
    if (open == std::string_view::npos) {
      parts.push_back({text, {}});
      return parts;
    }
    const std::size_t close = text.find('}', open);
    if (text[open] == '}' || close == std::string_view::npos) return std::nullopt;
    const Part part = {text.substr(0, open), text.substr(open + 1, close - open - 1)};
    if (!IsVariableName(part.variable) || !names.insert(part.variable).second) return std::nullopt;
    if (part.text.empty() && !parts.empty()) return std::nullopt;  // two variables in a row
    parts.push_back(part);
    text.remove_prefix(close + 1);
  }
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const char* const digits = text.data() + i + 1;
    unsigned char byte = 0;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

}  // namespace

RpcError ResourceNotFound(const std::string& uri, ProtocolVersion version) {
  return {IsModern(version) ? kInvalidParams : kLegacyResourceNotFound,
          "Resource not found: " + uri, json::object{{"uri", uri}}};
}

std::optional<ResourceRegistry::Variables> MatchTemplate(std::string_view uri_template,
                                                         std::string_view uri) {
  const auto parts = ParseTemplate(uri_template);
  if (!parts || !uri.starts_with(parts->front().text)) return std::nullopt;
  uri.remove_prefix(parts->front().text.size());
  ResourceRegistry::Variables variables;
  for (std::size_t i = 0; i + 1 < parts->size(); ++i) {
    // A value goes up to the first place where the text after it stands; the last text must end the
    // URI. No other choice could succeed where this one fails: a value may not cross a slash.
    const std::string_view text = (*parts)[i + 1].text;
    const bool last = i + 2 == parts->size();
    if (uri.size() < text.size() + 1 || (last && !uri.ends_with(text))) return std::nullopt;
    const std::size_t length = last ? uri.size() - text.size() : uri.find(text, 1);
    if (length == std::string_view::npos) return std::nullopt;
    auto value = PercentDecode(uri.substr(0, length));
    if (!value || value->find('/') != std::string::npos) return std::nullopt;
    variables.emplace((*parts)[i].variable, std::move(*value));
    uri.remove_prefix(length + text.size());
  }
  return uri.empty() ? std::optional(std::move(variables)) : std::nullopt;
}

void ResourceRegistry::Add(ResourceDefinition definition, Reader reader) {
  for (const Entry& entry : resources_) CHECK(entry.definition.uri != definition.uri);
  resources_.push_back({std::move(definition), std::move(reader)});
}

void ResourceRegistry::AddTemplate(ResourceTemplateDefinition definition, TemplateReader reader) {
  const auto parts = ParseTemplate(definition.uri_template);
  CHECK(parts.has_value() && parts->size() > 1);
  for (const TemplateEntry& entry : templates_) {
    CHECK(entry.definition.uri_template != definition.uri_template);
  }
  templates_.push_back({std::move(definition), std::move(reader)});
}

bool ResourceRegistry::Knows(std::string_view uri) const {
  return std::any_of(resources_.begin(), resources_.end(),
                     [uri](const Entry& entry) { return entry.definition.uri == uri; }) ||
         std::any_of(templates_.begin(), templates_.end(), [uri](const TemplateEntry& entry) {
           return MatchTemplate(entry.definition.uri_template, uri).has_value();
         });
}

void ResourceRegistry::Read(const std::string& uri, Responder<ReadResourceResult> responder) const {
  for (const Entry& entry : resources_) {
    if (entry.definition.uri == uri) return entry.reader(uri, std::move(responder));
  }
  for (const TemplateEntry& entry : templates_) {
    if (const auto variables = MatchTemplate(entry.definition.uri_template, uri)) {
      return entry.reader(uri, *variables, std::move(responder));
    }
  }
  responder.Fail(ResourceNotFound(uri, responder.context().version));
}

void ResourceRegistry::Register(Router& router, CacheHint cache, std::size_t page_items_max) {
  const ListOptions options = {cache, page_items_max};
  HandleList<ResourceDefinition>(
      router, "resources/list", resources_, options,
      [](const Entry& entry) -> const ResourceDefinition& { return entry.definition; });
  HandleList<ResourceTemplateDefinition>(
      router, "resources/templates/list", templates_, options,
      [](const TemplateEntry& entry) -> const ResourceTemplateDefinition& {
        return entry.definition;
      });
  router.Handle<ResourceParams, ReadResourceResult>(
      "resources/read",
      [this](const ResourceParams& params, Responder<ReadResourceResult> responder) {
        Read(params.uri, std::move(responder));
      });
}

}  // namespace glovebox::mcp

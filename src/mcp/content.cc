#include "mcp/content.h"

#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

json::object ToJson(const TextContent& text, ProtocolVersion) {
  return {{"type", "text"}, {"text", text.text}};
}

json::object PlainText(std::string text, ProtocolVersion version) {
  return ToJson(TextContent{std::move(text)}, version);
}

json::object ToJson(const ImageContent& image, ProtocolVersion) {
  return {{"type", "image"}, {"data", image.data}, {"mimeType", image.mime_type}};
}

json::object ToJson(const AudioContent& audio, ProtocolVersion version) {
  if (version < ProtocolVersion::k2025_03_26) {
    return PlainText("[audio, " + audio.mime_type + "]", version);
  }
  return {{"type", "audio"}, {"data", audio.data}, {"mimeType", audio.mime_type}};
}

json::object ToJson(const ResourceLink& link, ProtocolVersion version) {
  if (version < ProtocolVersion::k2025_06_18) {
    return PlainText("[resource " + link.name + ": " + link.uri + "]", version);
  }
  json::object object = {{"type", "resource_link"}, {"uri", link.uri}, {"name", link.name}};
  AddTitle(object, link.title, version);
  AddText(object, "description", link.description);
  AddText(object, "mimeType", link.mime_type);
  return object;
}

json::object ToJson(const EmbeddedResource& embedded, ProtocolVersion version) {
  return {{"type", "resource"}, {"resource", ToJson(embedded.resource, version)}};
}

}  // namespace

void AddText(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.emplace(key, text);
}

void AddTitle(json::object& object, const std::string& title, ProtocolVersion version) {
  if (version >= ProtocolVersion::k2025_06_18) AddText(object, "title", title);
}

void AddIcons(json::object& object, const std::vector<Icon>& icons, ProtocolVersion version) {
  if (version < ProtocolVersion::k2025_11_25 || icons.empty()) return;
  json::array array;
  array.reserve(icons.size());
  for (const Icon& icon : icons) {
    json::object& entry = array.emplace_back(json::object{{"src", icon.src}}).get_object();
    AddText(entry, "mimeType", icon.mime_type);
    if (!icon.sizes.empty())
      entry.emplace("sizes", json::array(icon.sizes.begin(), icon.sizes.end()));
  }
  object.emplace("icons", std::move(array));
}

void AddAnnotations(json::object& object, const Annotations& annotations, ProtocolVersion version) {
  if (!annotations.empty()) object.emplace("annotations", ToJson(annotations, version));
}

json::object ToJson(const Annotations& annotations, ProtocolVersion version) {
  json::object object;
  if (!annotations.audience.empty()) {
    object.emplace("audience",
                   json::array(annotations.audience.begin(), annotations.audience.end()));
  }
  if (annotations.priority) object.emplace("priority", *annotations.priority);
  if (version >= ProtocolVersion::k2025_06_18) {
    AddText(object, "lastModified", annotations.last_modified);
  }
  return object;
}

json::object ToJson(const ResourceContents& contents, ProtocolVersion) {
  json::object object = {{"uri", contents.uri}};
  AddText(object, "mimeType", contents.mime_type);
  if (contents.blob) {
    object.emplace("blob", *contents.blob);
  } else {
    object.emplace("text", contents.text);
  }
  return object;
}

ContentBlock Text(std::string text) { return {TextContent{std::move(text)}, {}}; }

json::object ToJson(const ContentBlock& block, ProtocolVersion version) {
  json::object object =
      std::visit([version](const auto& body) { return ToJson(body, version); }, block.body);
  AddAnnotations(object, block.annotations, version);
  return object;
}

}  // namespace glovebox::mcp

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/object.hpp>

#include "mcp/version.h"

namespace glovebox::mcp {

// What messages are made of: blocks of content, and the ornaments of lists.

// Each adds a member unless it is empty or the revision does not know it.
void AddText(boost::json::object& object, std::string_view key, const std::string& text);
void AddTitle(boost::json::object& object, const std::string& title, ProtocolVersion version);

struct Icon {
  std::string src;  // https: or data:
  std::string mime_type;
  std::vector<std::string> sizes;  // "48x48", "any"
};
void AddIcons(boost::json::object& object, const std::vector<Icon>& icons, ProtocolVersion version);

// Whom a piece of content is for.
struct Annotations {
  std::vector<std::string> audience;  // "user", "assistant"
  std::optional<double> priority;     // 0..1
  std::string last_modified;          // ISO 8601; since 2025-06-18
  bool empty() const { return audience.empty() && !priority && last_modified.empty(); }
};
boost::json::object ToJson(const Annotations& annotations, ProtocolVersion version);
void AddAnnotations(boost::json::object& object, const Annotations& annotations,
                    ProtocolVersion version);

// The content of one resource: text, or bytes in base64.
struct ResourceContents {
  std::string uri;
  std::string mime_type;  // may be empty
  std::string text;
  std::optional<std::string> blob;  // base64; then `text` is not written
};
boost::json::object ToJson(const ResourceContents& contents, ProtocolVersion version);

struct TextContent {
  std::string text;
};
struct ImageContent {
  std::string data;  // base64
  std::string mime_type;
};
struct AudioContent {  // since 2025-03-26
  std::string data;    // base64
  std::string mime_type;
};
struct ResourceLink {  // since 2025-06-18
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
};
struct EmbeddedResource {
  ResourceContents resource;
};

struct ContentBlock {
  std::variant<TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource> body;
  Annotations annotations;
};
ContentBlock Text(std::string text);
// A kind of block that the revision does not know leaves as text that names it.
boost::json::object ToJson(const ContentBlock& block, ProtocolVersion version);

}  // namespace glovebox::mcp

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.h"
#include "mcp/resource_messages.h"
#include "mcp/router.h"

namespace glovebox::mcp {

// The resources of a server and the templates that make more of them, in the order clients see.
class ResourceRegistry {
 public:
  using Variables = std::map<std::string, std::string>;
  using Reader = std::function<void(const std::string& uri, Responder<ReadResourceResult>)>;
  using TemplateReader = std::function<void(const std::string& uri, const Variables& variables,
                                            Responder<ReadResourceResult>)>;

  // A URI twice is a CHECK; so is a template that is not level 1 of RFC 6570, has no variable, or
  // has two with nothing between them.
  void Add(ResourceDefinition definition, Reader reader);
  void AddTemplate(ResourceTemplateDefinition definition, TemplateReader reader);

  bool empty() const { return resources_.empty() && templates_.empty(); }
  // Whether a read of `uri` would reach a reader.
  bool Knows(std::string_view uri) const;

  // Answers resources/list, resources/templates/list and resources/read.
  void Register(Router& router, CacheHint cache, std::size_t page_items_max);

 private:
  struct Entry {
    ResourceDefinition definition;
    Reader reader;
  };
  struct TemplateEntry {
    ResourceTemplateDefinition definition;
    TemplateReader reader;
  };
  void Read(const std::string& uri, Responder<ReadResourceResult> responder) const;

  std::vector<Entry> resources_;
  std::vector<TemplateEntry> templates_;
};

// The answer about a URI that nobody serves: -32002 in the legacy era, -32602 in the modern one,
// and the URI in data.uri.
RpcError ResourceNotFound(const std::string& uri, ProtocolVersion version);

// The variables of `uri` under `uri_template`, percent-decoded; nothing when it does not match. A
// variable is never empty and holds no slash.
std::optional<ResourceRegistry::Variables> MatchTemplate(std::string_view uri_template,
                                                         std::string_view uri);

}  // namespace glovebox::mcp

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/content.h"
#include "mcp/page.h"
#include "mcp/params.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// resources/list, resources/templates/list, resources/read, resources/subscribe.

struct ResourceDefinition {
  static constexpr std::string_view kListKey = "resources";
  std::string uri;
  std::string name = {};
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
  std::optional<std::uint64_t> size = {};
  Annotations annotations = {};
  std::vector<Icon> icons = {};
};

struct ResourceTemplateDefinition {
  static constexpr std::string_view kListKey = "resourceTemplates";
  std::string uri_template;  // RFC 6570 level 1: test://item/{id}/data
  std::string name = {};
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
  Annotations annotations = {};
  std::vector<Icon> icons = {};
};

using ListResourcesResult = ListResult<ResourceDefinition>;
using ListResourceTemplatesResult = ListResult<ResourceTemplateDefinition>;

// Of resources/read, resources/subscribe and resources/unsubscribe.
struct ResourceParams {
  std::string uri;
};
struct ReadResourceResult {
  std::vector<ResourceContents> contents;
  CacheHint cache;
};

template <>
Result<ResourceParams> ParamsFromJson(const boost::json::object& params);

boost::json::object ToJson(const ResourceDefinition& resource, ProtocolVersion version);
boost::json::object ToJson(const ResourceTemplateDefinition& resource, ProtocolVersion version);
boost::json::object ToJson(const ReadResourceResult& result, ProtocolVersion version);

}  // namespace glovebox::mcp

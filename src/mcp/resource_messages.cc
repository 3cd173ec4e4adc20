#include "mcp/resource_messages.h"

#include <utility>

#include <boost/json/array.hpp>

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

// What resources and templates say about themselves in the same words.
template <typename Definition>
void Describe(json::object& object, const Definition& definition, ProtocolVersion version) {
  object.emplace("name", definition.name);
  AddTitle(object, definition.title, version);
  AddText(object, "description", definition.description);
  AddText(object, "mimeType", definition.mime_type);
  AddAnnotations(object, definition.annotations, version);
  AddIcons(object, definition.icons, version);
}

}  // namespace

template <>
Result<ResourceParams> ParamsFromJson(const json::object& params) {
  return ResourceParams{TRY(RequiredString(params, "uri"))};
}

json::object ToJson(const ResourceDefinition& resource, ProtocolVersion version) {
  json::object object = {{"uri", resource.uri}};
  Describe(object, resource, version);
  if (resource.size && version >= ProtocolVersion::k2025_03_26) {
    object.emplace("size", *resource.size);
  }
  return object;
}

json::object ToJson(const ResourceTemplateDefinition& resource, ProtocolVersion version) {
  json::object object = {{"uriTemplate", resource.uri_template}};
  Describe(object, resource, version);
  return object;
}

json::object ToJson(const ReadResourceResult& result, ProtocolVersion version) {
  json::array contents;
  contents.reserve(result.contents.size());
  for (const ResourceContents& part : result.contents) contents.emplace_back(ToJson(part, version));
  json::object object;
  object.emplace("contents", std::move(contents));
  AddCacheHint(object, result.cache, version);
  return object;
}

}  // namespace glovebox::mcp

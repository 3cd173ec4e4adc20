#include <string>
#include <utility>

#include "fixture.h"
#include "mcp/json_writer.h"

namespace glovebox::conformance {
namespace {

using mcp::ReadResourceResult;
using Reader = mcp::ResourceRegistry::Reader;
using ResourceResponder = mcp::Responder<ReadResourceResult>;

constexpr mcp::CacheHint kCache = {60'000, true};

Reader Constant(mcp::ResourceContents contents) {
  return [contents = std::move(contents)](const std::string&, const ResourceResponder& responder) {
    responder.Reply({{contents}, kCache});
  };
}

}  // namespace

void AddResources(mcp::Server& server) {
  mcp::ResourceRegistry& resources = server.resources();
  resources.Add({.uri = "test://static-text",
                 .name = "static-text",
                 .description = "A text that never changes.",
                 .mime_type = "text/plain"},
                Constant({"test://static-text",
                          "text/plain",
                          "This is the content of the static text resource.",
                          {}}));
  resources.Add({.uri = "test://static-binary",
                 .name = "static-binary",
                 .description = "An image that never changes.",
                 .mime_type = "image/png"},
                Constant({"test://static-binary", "image/png", "", std::string(kPngBase64)}));
  resources.Add({.uri = "test://watched-resource",
                 .name = "watched-resource",
                 .description = "A text to subscribe to.",
                 .mime_type = "text/plain"},
                Constant({"test://watched-resource", "text/plain", "Watched.", {}}));
  resources.AddTemplate(
      {.uri_template = "test://template/{id}/data",
       .name = "template",
       .description = "A document for each id.",
       .mime_type = "application/json"},
      [](const std::string& uri, const mcp::ResourceRegistry::Variables& variables,
         const ResourceResponder& responder) {
        const std::string& id = variables.at("id");
        const boost::json::object document = {
            {"id", id}, {"templateTest", true}, {"data", "Data for id " + id}};
        responder.Reply({{{uri, "application/json", mcp::WriteJson(document), {}}}, kCache});
      });
}

}  // namespace glovebox::conformance

#include "mcp/server.h"

#include <utility>

namespace glovebox::mcp {

namespace json = boost::json;

Server::Server(const boost::asio::any_io_executor& executor, ServerOptions options)
    : executor_(executor),
      options_(std::move(options)),
      tasks_(executor, options_.task_options),
      admission_(options_.admission) {}

void Server::Open() {
  const std::size_t page = options_.page_items_max;
  if (!tools_.empty()) tools_.Register(router_, options_.cache, page);
  if (!resources_.empty()) resources_.Register(router_, options_.cache, page);
  if (!prompts_.empty() || prompts_.completes()) prompts_.Register(router_, options_.cache, page);
  const ChangeFeed::Offered& changes = options_.changes;
  if (changes.tools || changes.prompts || changes.resources || changes.resource_updates) {
    changes_.Register(router_, changes);
  }
  if (options_.tasks) tasks_.Register(router_);
  router_.Handle<EmptyParams, DiscoverResult>(
      "server/discover",
      [this](EmptyParams, const auto& responder) {
        responder.Reply({ServedVersions(), Capabilities(kModernVersion), options_.instructions,
                         options_.cache});
      },
      Eras::kModern);
}

std::optional<RpcError> Server::Admit(const std::string& principal, Admission::Ticket& ticket,
                                      Admission::Share share) {
  auto decision = admission_.Admit(principal, share);
  if (decision.admitted) {
    ticket = std::move(decision.ticket);
    return std::nullopt;
  }
  const auto& refusal = decision.refusal;
  return RpcError{
      kInternalError, refusal.message,
      json::object{{"reason", "rate_limited"}, {"retryAfterMs", refusal.retry_after.count()}},
      refusal.retry_after};
}

json::object Server::Capabilities(ProtocolVersion version) const {
  const auto list = [](bool changes) {
    return changes ? json::object{{"listChanged", true}} : json::object();
  };
  const ChangeFeed::Offered& changes = options_.changes;
  json::object capabilities;
  if (!tools_.empty()) capabilities["tools"] = list(changes.tools);
  if (!resources_.empty()) {
    json::object resources = list(changes.resources);
    if (changes.resource_updates) resources["subscribe"] = true;
    capabilities["resources"] = std::move(resources);
  }
  if (!prompts_.empty()) capabilities["prompts"] = list(changes.prompts);
  if (prompts_.completes() && version >= ProtocolVersion::k2025_03_26) {
    capabilities["completions"] = json::object();
  }
  if (options_.logging) capabilities["logging"] = json::object();
  if (options_.tasks && IsModern(version)) {
    capabilities["extensions"] = {{"io.modelcontextprotocol/tasks", json::object()}};
  }
  return capabilities;
}

InitializeResult Server::Welcome(ProtocolVersion version) const {
  return {version, Capabilities(version), options_.info, options_.instructions};
}

}  // namespace glovebox::mcp

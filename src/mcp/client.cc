#include "mcp/client.h"

#include <algorithm>
#include <utility>

#include "mcp/client_call.h"
#include "mcp/client_core.h"
#include "mcp/header_parameter.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

RequestHandle StartCall(ClientCore& core, ClientCallPlan plan) {
  return RequestHandle(ClientCall::Start(core, std::move(plan)));
}

// A method with a result of its own type; an error answer is an Error.
template <typename ResultType>
RequestHandle StartTyped(ClientCore& core, std::string method, json::object params,
                         RequestOptions options, Callback<ResultType> callback) {
  return StartCall(core, {std::move(method), std::move(params), std::move(options), nullptr,
                          [callback = std::move(callback)](Result<RpcOutcome> outcome) {
                            if (!outcome.ok()) return callback(std::move(outcome).error());
                            if (const auto* error = std::get_if<RpcError>(&*outcome)) {
                              return callback(ToError(*error));
                            }
                            callback(ResultFromJson<ResultType>(std::get<json::object>(*outcome)));
                          }});
}

// All pages of a list, one request after the other. `keep` says whether an item belongs to it.
template <typename Item>
class Pages {
 public:
  using Keep = std::function<bool(const Item&)>;

  Pages(const ClientOptions& options, Keep keep)
      : items_max_(options.list_items_max),
        pages_max_(options.list_pages_max),
        keep_(std::move(keep)) {}

  Result<std::optional<json::object>> Take(const json::object& result) {
    auto page = TRY(ResultFromJson<ListPage<Item>>(result));
    if (page.items.size() > items_max_ - std::min(seen_, items_max_)) {
      return Error(Errc::kLimit, "the server's list of " + std::string(Item::kListKey) +
                                     " has more than " + std::to_string(items_max_) + " items");
    }
    seen_ += page.items.size();
    for (Item& item : page.items) {
      if (!keep_ || keep_(item)) items.push_back(std::move(item));
    }
    if (!page.next_cursor) return std::optional<json::object>();
    // A cursor that comes again would go round in circles.
    if (!cursors_.insert(*page.next_cursor).second || cursors_.size() >= pages_max_) {
      return Error(Errc::kLimit,
                   "the server's list of " + std::string(Item::kListKey) + " does not end");
    }
    return std::optional(json::object{{"cursor", *page.next_cursor}});
  }

  std::vector<Item> items;

 private:
  const std::size_t items_max_;
  const std::size_t pages_max_;
  const Keep keep_;
  std::size_t seen_ = 0;
  std::set<std::string> cursors_;
};

template <typename Item>
RequestHandle StartList(ClientCore& core, std::string method, RequestOptions options,
                        Callback<std::vector<Item>> callback,
                        typename Pages<Item>::Keep keep = nullptr) {
  const auto pages = std::make_shared<Pages<Item>>(core.options(), std::move(keep));
  return StartCall(core, {std::move(method),
                          {},
                          std::move(options),
                          [pages](const json::object& result) { return pages->Take(result); },
                          [pages, callback = std::move(callback)](Result<RpcOutcome> outcome) {
                            if (!outcome.ok()) return callback(std::move(outcome).error());
                            if (const auto* error = std::get_if<RpcError>(&*outcome)) {
                              return callback(ToError(*error));
                            }
                            callback(std::move(pages->items));
                          }});
}

}  // namespace

RequestHandle ListAllTools(ClientCore& core, RequestOptions options,
                           Callback<std::vector<ToolDefinition>> callback) {
  return StartList<ToolDefinition>(
      core, "tools/list", std::move(options), std::move(callback),
      [weak = core.weak_from_this()](const ToolDefinition& tool) {
        const auto self = weak.lock();
        if (!self || !self->channel().mirrors_parameters()) return true;
        auto parameters = FindHeaderParameters(tool.input_schema);
        if (parameters.ok()) {
          self->Learn(tool, std::move(parameters).value());
          return true;
        }
        self->Misbehaved(std::move(parameters)
                             .error()
                             .Within("the tool " + Quoted(tool.name) + " was left out"));
        return false;
      });
}

void RequestHandle::Cancel() {
  if (const auto operation = operation_.lock()) operation->Cancel();
}

Client::Client(const boost::asio::any_io_executor& executor, std::unique_ptr<ClientChannel> channel,
               ClientOptions options)
    : core_(std::make_shared<ClientCore>(executor, std::move(channel), std::move(options))) {
  core_->Start();
}

Client::~Client() { core_->Abandon(); }

void Client::Connect(Callback<ServerDescription> callback) { core_->Connect(std::move(callback)); }

const ServerDescription& Client::server() const {
  CHECK(core_->server().has_value());
  return *core_->server();
}

RequestHandle Client::ListTools(RequestOptions options,
                                Callback<std::vector<ToolDefinition>> callback) {
  return ListAllTools(*core_, std::move(options), std::move(callback));
}

RequestHandle Client::ListResources(RequestOptions options,
                                    Callback<std::vector<ResourceDefinition>> callback) {
  return StartList<ResourceDefinition>(*core_, "resources/list", std::move(options),
                                       std::move(callback));
}

RequestHandle Client::ListResourceTemplates(
    RequestOptions options, Callback<std::vector<ResourceTemplateDefinition>> callback) {
  return StartList<ResourceTemplateDefinition>(*core_, "resources/templates/list",
                                               std::move(options), std::move(callback));
}

RequestHandle Client::ListPrompts(RequestOptions options,
                                  Callback<std::vector<PromptDefinition>> callback) {
  return StartList<PromptDefinition>(*core_, "prompts/list", std::move(options),
                                     std::move(callback));
}

RequestHandle Client::CallTool(std::string name, json::object arguments, RequestOptions options,
                               Callback<CallToolResult> callback) {
  return StartTyped(*core_, "tools/call",
                    {{"name", std::move(name)}, {"arguments", std::move(arguments)}},
                    std::move(options), std::move(callback));
}

RequestHandle Client::ReadResource(std::string uri, RequestOptions options,
                                   Callback<ReadResourceResult> callback) {
  return StartTyped(*core_, "resources/read", {{"uri", std::move(uri)}}, std::move(options),
                    std::move(callback));
}

RequestHandle Client::GetPrompt(std::string name, std::map<std::string, std::string> arguments,
                                RequestOptions options, Callback<GetPromptResult> callback) {
  json::object given;
  for (const auto& [key, value] : arguments) given[key] = value;
  return StartTyped(*core_, "prompts/get",
                    {{"name", std::move(name)}, {"arguments", std::move(given)}},
                    std::move(options), std::move(callback));
}

RequestHandle Client::Complete(const CompleteParams& params, RequestOptions options,
                               Callback<CompleteResult> callback) {
  const bool is_prompt = params.kind == CompleteParams::Kind::kPrompt;
  json::object object = {
      {"ref",
       {{"type", is_prompt ? "ref/prompt" : "ref/resource"},
        {is_prompt ? "name" : "uri", params.reference}}},
      {"argument", {{"name", params.argument_name}, {"value", params.argument_value}}}};
  if (!params.known.empty()) {
    json::object known;
    for (const auto& [key, value] : params.known) known[key] = value;
    object["context"] = {{"arguments", std::move(known)}};
  }
  return StartTyped(*core_, "completion/complete", std::move(object), std::move(options),
                    std::move(callback));
}

RequestHandle Client::Ping(RequestOptions options, Callback<EmptyResult> callback) {
  return StartTyped(*core_, "ping", {}, std::move(options), std::move(callback));
}

RequestHandle Client::Request(std::string method, json::object params, RequestOptions options,
                              Callback<RpcOutcome> callback) {
  return StartCall(*core_, {std::move(method), std::move(params), std::move(options), nullptr,
                            std::move(callback)});
}

void Client::Notify(std::string_view method, json::object params) {
  core_->channel().Notify(method, std::move(params));
}

void Client::Close(std::function<void()> done) { core_->Close(std::move(done)); }

}  // namespace glovebox::mcp

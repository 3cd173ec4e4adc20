#include "mcp/change_feed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>

#include "mcp/params.h"
#include "mcp/task_store.h"

namespace glovebox::mcp {

namespace json = boost::json;

std::string_view MethodOf(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::kToolsList: return "notifications/tools/list_changed";
    case Change::Kind::kPromptsList: return "notifications/prompts/list_changed";
    case Change::Kind::kResourcesList: return "notifications/resources/list_changed";
    case Change::Kind::kResourceUpdated: break;
  }
  return "notifications/resources/updated";
}

json::object ParamsOf(const Change& change) {
  if (change.kind != Change::Kind::kResourceUpdated) return {};
  return {{"uri", change.uri}};
}

struct ChangeFeed::Subscription::Node {
  ChangeFeed* feed;
  Listener listener;
  std::list<std::weak_ptr<Node>>::iterator place;
};

ChangeFeed::Subscription::Subscription(Subscription&&) noexcept = default;

ChangeFeed::Subscription& ChangeFeed::Subscription::operator=(Subscription&& other) noexcept {
  Subscription ended(std::move(other));
  std::swap(node_, ended.node_);
  return *this;
}

ChangeFeed::Subscription::~Subscription() {
  if (node_ != nullptr) node_->feed->listeners_.erase(node_->place);
}

ChangeFeed::Subscription ChangeFeed::Listen(Listener listener) {
  Subscription subscription;
  subscription.node_ = std::make_shared<Subscription::Node>();
  subscription.node_->feed = this;
  subscription.node_->listener = std::move(listener);
  subscription.node_->place = listeners_.insert(listeners_.end(), subscription.node_);
  return subscription;
}

void ChangeFeed::Publish(const Change& change) {
  const std::vector<std::weak_ptr<Subscription::Node>> listeners(listeners_.begin(),
                                                                 listeners_.end());
  for (const auto& listener : listeners) {
    if (const auto node = listener.lock()) node->listener(change);
  }
}

struct SubscriptionFilter {
  ChangeFeed::Offered wanted;
  std::set<std::string, std::less<>> uris;  // when wanted.resource_updates
  bool tasks = false;                       // asked for; we have none to tell

  bool Takes(const Change& change) const {
    switch (change.kind) {
      case Change::Kind::kToolsList: return wanted.tools;
      case Change::Kind::kPromptsList: return wanted.prompts;
      case Change::Kind::kResourcesList: return wanted.resources;
      case Change::Kind::kResourceUpdated: break;
    }
    return wanted.resource_updates && uris.contains(change.uri);
  }

  json::object ToJson() const {
    json::object filter;
    if (wanted.tools) filter["toolsListChanged"] = true;
    if (wanted.prompts) filter["promptsListChanged"] = true;
    if (wanted.resources) filter["resourcesListChanged"] = true;
    if (wanted.resource_updates) {
      filter["resourceSubscriptions"] = json::array(uris.begin(), uris.end());
    }
    return filter;
  }
};

namespace {

Result<bool> FlagField(const json::object& filter, std::string_view field) {
  const json::value* value = filter.if_contains(field);
  if (value == nullptr) return false;
  if (!value->is_bool()) return WrongField("notifications." + std::string(field), "a boolean");
  return value->get_bool();
}

}  // namespace

template <>
Result<SubscriptionFilter> ParamsFromJson(const json::object& params) {
  const json::object* object = TRY(ObjectField(params, "notifications"));
  if (object == nullptr) return WrongField("notifications", "given: it says what to listen for");
  SubscriptionFilter filter;
  filter.wanted.tools = TRY(FlagField(*object, "toolsListChanged"));
  filter.wanted.prompts = TRY(FlagField(*object, "promptsListChanged"));
  filter.wanted.resources = TRY(FlagField(*object, "resourcesListChanged"));
  filter.tasks = object->contains("taskIds");

  const json::value* uris = object->if_contains("resourceSubscriptions");
  if (uris == nullptr) return filter;
  constexpr std::string_view kField = "notifications.resourceSubscriptions";
  if (!uris->is_array()) return WrongField(kField, "an array of URIs");
  std::size_t bytes = 0;
  for (const json::value& uri : uris->get_array()) {
    if (!uri.is_string()) return WrongField(kField, "an array of URIs");
    bytes += uri.get_string().size();
    filter.uris.emplace(uri.get_string());
  }
  if (uris->get_array().size() > ChangeFeed::kUrisMax || bytes > ChangeFeed::kUriBytesMax) {
    return WrongField(kField, "at most " + std::to_string(ChangeFeed::kUrisMax) + " URIs of " +
                                  std::to_string(ChangeFeed::kUriBytesMax) + " bytes together");
  }
  filter.wanted.resource_updates = true;
  return filter;
}

// One subscriptions/listen in work.
class ChangeFeed::Stream {
 public:
  Stream(std::shared_ptr<Call> call, SubscriptionFilter filter)
      : call_(std::move(call)), filter_(std::move(filter)) {}

  void Start(ChangeFeed& feed) {
    call_->Notify("notifications/subscriptions/acknowledged",
                  Tagged({{"notifications", filter_.ToJson()}}));
    subscription_ = feed.Listen([this](const Change& change) {
      if (!filter_.Takes(change)) return;
      const auto call = call_;  // telling it may end this stream
      call->Notify(MethodOf(change.kind), Tagged(ParamsOf(change)));
    });
  }
  void End() { call_->Reply(Tagged({})); }

  const std::string& principal() const { return call_->context().principal; }

 private:
  // Several subscriptions may share one pipe: each message says which one it belongs to.
  json::object Tagged(json::object params) const {
    params["_meta"] = {{"io.modelcontextprotocol/subscriptionId", ToJson(call_->id())}};
    return params;
  }

  const std::shared_ptr<Call> call_;
  const SubscriptionFilter filter_;
  Subscription subscription_;
};

ChangeFeed::~ChangeFeed() {
  // Streams hold subscriptions, which take themselves off the list.
  streams_.clear();
}

void ChangeFeed::Register(Router& router, Offered offered) {
  router.Handle<SubscriptionFilter, EmptyResult>(
      "subscriptions/listen",
      [this, offered](SubscriptionFilter filter, const auto& responder) {
        if (filter.tasks && !responder.context().capabilities.tasks) {
          return responder.Fail(TasksNotDeclared());
        }
        Offered& wanted = filter.wanted;
        wanted = {wanted.tools && offered.tools, wanted.prompts && offered.prompts,
                  wanted.resources && offered.resources,
                  wanted.resource_updates && offered.resource_updates};
        Open(std::move(filter), responder.call());
      },
      Eras::kModern);
}

void ChangeFeed::Open(SubscriptionFilter filter, const std::shared_ptr<Call>& call) {
  const std::string& principal = call->context().principal;
  const auto of_client =
      std::count_if(streams_.begin(), streams_.end(),
                    [&principal](const auto& stream) { return stream->principal() == principal; });
  if (streams_.size() >= kStreamsMax ||
      of_client >= static_cast<std::ptrdiff_t>(kStreamsPerClientMax)) {
    return call->Fail(ToRpcError(
        Error(Errc::kLimit, "too many subscriptions: at most " +
                                std::to_string(kStreamsPerClientMax) + " for each client and " +
                                std::to_string(kStreamsMax) + " in all; end one first")));
  }
  const auto stream = std::make_shared<Stream>(call, std::move(filter));
  stream->Start(*this);
  if (streams_ended_) return stream->End();
  streams_.insert(stream);
  call->OnCancel([this, weak = std::weak_ptr(stream)] {
    // A stream that is still there proves that the feed is.
    if (const auto cancelled = weak.lock()) streams_.erase(cancelled);
  });
}

void ChangeFeed::EndStreams() {
  streams_ended_ = true;
  for (const auto& stream : std::exchange(streams_, {})) stream->End();
}

}  // namespace glovebox::mcp

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "mcp/router.h"

namespace glovebox::mcp {

// Something clients may have subscribed to.
struct Change {
  enum class Kind : std::uint8_t { kToolsList, kPromptsList, kResourcesList, kResourceUpdated };
  Kind kind = Kind::kToolsList;
  std::string uri = {};  // of kResourceUpdated
};
std::string_view MethodOf(Change::Kind kind);  // "notifications/tools/list_changed", ...
boost::json::object ParamsOf(const Change& change);

struct SubscriptionFilter;  // what one subscriptions/listen asks for; in change_feed.cc

// Spreads changes to whoever listens: legacy sessions, and the streams of subscriptions/listen.
//
// Thread rule: the thread of the server's io_context.
class ChangeFeed {
 public:
  using Listener = std::function<void(const Change&)>;

  // Ends the listening when destroyed. Must not outlive the feed.
  class Subscription {
   public:
    Subscription() = default;
    Subscription(Subscription&&) noexcept;
    Subscription& operator=(Subscription&&) noexcept;
    ~Subscription();

   private:
    friend class ChangeFeed;
    struct Node;
    std::shared_ptr<Node> node_;
  };

  ChangeFeed() = default;
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  [[nodiscard]] Subscription Listen(Listener listener);
  // Calls every listener; one may end itself or others in the call. Who begins to listen in the
  // call hears of the next change first.
  void Publish(const Change& change);

  // Which changes are told to clients.
  struct Offered {
    bool tools = false;
    bool prompts = false;
    bool resources = false;
    bool resource_updates = false;  // of single resources, by URI
  };
  // Bounds of subscriptions/listen; what exceeds one is refused with an error that names it.
  static constexpr std::size_t kStreamsMax = 1024;
  static constexpr std::size_t kStreamsPerClientMax = 128;
  static constexpr std::size_t kUrisMax = 1000;           // of one stream
  static constexpr std::size_t kUriBytesMax = 64u << 10;  // of one stream's URIs together

  // Answers subscriptions/listen (modern era): acknowledges what is both asked for and `offered`,
  // then passes that on, tagged with the subscription's id, until the client cancels or EndStreams.
  // The feed must outlive the router's use.
  void Register(Router& router, Offered offered);
  // Answers every open subscriptions/listen with its empty result, and each later one as soon as it
  // is acknowledged: the server is going away.
  void EndStreams();

  std::size_t stream_count() const { return streams_.size(); }

 private:
  class Stream;

  void Open(SubscriptionFilter filter, const std::shared_ptr<Call>& call);

  std::list<std::weak_ptr<Subscription::Node>> listeners_;
  std::set<std::shared_ptr<Stream>> streams_;
  bool streams_ended_ = false;
};

}  // namespace glovebox::mcp

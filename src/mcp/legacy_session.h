#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mcp/change_feed.h"
#include "mcp/jsonrpc.h"
#include "mcp/message_sink.h"
#include "mcp/pending_call.h"
#include "mcp/server.h"

namespace glovebox::mcp {

// One client of the legacy era, from `initialize` to its end: version negotiation, ping, log level,
// resource subscriptions, requests in flight in both directions, cancellation, batches where the
// revision has them. Knows nothing of how messages travel.
//
// Thread rule: the thread of the server's io_context.
// Failure: nothing a client sends ends the session; it gets an error answer where one is due, and
// silence where the protocol wants it (notifications, responses, cancelled requests).
class LegacySession {
 public:
  static constexpr std::size_t kSubscriptionsMax = 1000;  // to resources

  // `standalone` takes what belongs to no request. A client that asks for a revision older than
  // `oldest`, or for one we do not know, is offered our newest. `idle` runs whenever the last
  // request in flight has been answered; it may destroy nothing.
  LegacySession(Server& server, std::string principal, std::shared_ptr<MessageSink> standalone,
                ProtocolVersion oldest, std::function<void()> idle = nullptr);
  ~LegacySession();
  LegacySession(const LegacySession&) = delete;
  LegacySession& operator=(const LegacySession&) = delete;

  // The answer to a request goes to `sink`; notifications and responses are answered by nothing and
  // may come with a null sink.
  void Handle(Message message, const std::shared_ptr<MessageSink>& sink);
  // Answers go out together, as one array; a batch without requests may come with a null sink.
  void Handle(Batch batch, const std::shared_ptr<MessageSink>& sink);

  // Withdraws every request in flight. What comes later is answered with an error.
  void End();

  const std::optional<ProtocolVersion>& version() const { return version_; }
  std::size_t in_flight() const { return in_flight_.size(); }

 private:
  class LegacyCall;
  class BatchSink;
  struct Question;  // a request of ours that the client has not answered

  void HandleRequest(Request request, const std::shared_ptr<MessageSink>& sink);
  void Dispatch(Request request, const Router::RawHandler& handler,
                const std::shared_ptr<MessageSink>& sink);
  void HandleNotification(const Notification& notification);
  void HandleResponse(Response response);
  void Initialize(const Request& request, MessageSink& sink);
  // logging/setLevel, resources/subscribe, resources/unsubscribe; false for any other method.
  bool HandleOwnMethod(const Request& request, MessageSink& sink);
  void OnChange(const Change& change);
  void Forget(PendingCall& call);

  Server& server_;
  const std::string principal_;
  const std::shared_ptr<MessageSink> standalone_;
  const ProtocolVersion oldest_;
  const std::function<void()> idle_;

  std::optional<ProtocolVersion> version_;  // set by initialize
  ClientCapabilities capabilities_;
  Implementation client_info_;
  LogLevel log_level_ = LogLevel::kInfo;
  std::set<std::string, std::less<>> subscriptions_;
  ChangeFeed::Subscription changes_;
  // Requests of the client that have no answer yet. Their owners are the handlers.
  std::map<RequestId, PendingCall*> in_flight_;
  std::map<std::int64_t, Question> questions_;
  std::int64_t last_question_ = 0;
  bool ended_ = false;
};

}  // namespace glovebox::mcp

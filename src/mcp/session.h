#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/jsonrpc.h"
#include "mcp/protocol.h"
#include "mcp/router.h"
#include "transport/transport.h"

namespace glovebox::mcp {

struct SessionOptions {
  Implementation server_info;
  boost::json::object capabilities;
  std::string instructions;
  ParseLimits limits;
  // Requests without an answer yet. One more is refused with an error, so that reading can go on
  // and a cancellation can still arrive.
  std::size_t in_flight_max = 256;
  // After the end of input, answers still under way get this long. Long enough for a script that
  // pipes its requests in, shorter than the two seconds after which clients send SIGTERM.
  std::chrono::milliseconds drain_max{1000};
};

// One client, from `initialize` to the end of its transport: version negotiation, ping, requests in
// flight, cancellation, progress, batches where the revision has them. Methods beyond those go to
// the router.
//
// Thread rule: the thread that runs the transport's io_context.
// Failure: nothing a client sends ends the session; it gets an error answer where one is due, and
// silence where the protocol wants it (notifications, responses, cancelled requests).
class Session final : private Transport::Receiver {
 public:
  // Called once, never from inside a member function that the owner called: the session may be
  // destroyed in it. An error when the client was lost rather than finished.
  using FinishedHandler = std::function<void(const Status&)>;

  // `transport` and `router` must outlive the session.
  Session(const boost::asio::any_io_executor& executor, Transport& transport, const Router& router,
          SessionOptions options, FinishedHandler finished);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Start() { transport_.Start(*this); }

  // Ends the session for reasons of ours: cancels what is in flight, writes what is queued.
  void Close();

  std::size_t in_flight() const { return in_flight_.size(); }

 private:
  class PendingCall;
  struct BatchReply;  // collects the answers to one batch

  void OnMessage(std::string_view text) override;
  void OnRefusedMessage(const Error& error) override;
  void OnEndOfInput() override;
  void OnClosed(const Status& reason) override;

  void HandleBatch(Batch batch);
  void HandleMessage(Message message, const std::shared_ptr<BatchReply>& batch);
  void HandleRequest(Request request, const std::shared_ptr<BatchReply>& batch);
  void HandleNotification(const Notification& notification);
  void Initialize(const Request& request);
  void Dispatch(Request request, const Router::RawHandler& handler,
                const std::shared_ptr<BatchReply>& batch);
  void Cancel(const RequestId& id);
  void CancelAll();
  void Forget(PendingCall& call);
  void Send(boost::json::object message, const std::shared_ptr<BatchReply>& batch);
  void SettleBatch(const std::shared_ptr<BatchReply>& batch);
  void FinishDrainIfIdle();

  Transport& transport_;
  const Router& router_;
  const SessionOptions options_;
  FinishedHandler finished_;
  boost::asio::steady_timer drain_timer_;

  std::optional<ProtocolVersion> version_;  // set by initialize
  // Requests of the client that have no answer yet. Their owners are the handlers; a call leaves
  // the map with its answer, its cancellation or its destruction.
  std::map<RequestId, PendingCall*> in_flight_;
  bool draining_ = false;
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // dies with the session
};

}  // namespace glovebox::mcp

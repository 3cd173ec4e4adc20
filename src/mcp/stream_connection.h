#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "mcp/legacy_session.h"
#include "mcp/modern_call.h"
#include "mcp/server.h"
#include "transport/transport.h"

namespace glovebox::mcp {

// One client on one byte stream (stdio), of either era: a request that carries a modern envelope is
// modern, everything else belongs to the legacy session that `initialize` opens.
//
// Thread rule: the thread of the server's io_context.
// Failure: nothing a client sends ends the connection.
class StreamConnection final : private Transport::Receiver {
 public:
  // Called once, never from inside a member function that the owner called: the connection may be
  // destroyed in it. An error when the client was lost rather than finished.
  using FinishedHandler = std::function<void(const Status&)>;

  // `server` and `transport` must outlive the connection. `principal` names the client's quota.
  StreamConnection(Server& server, Transport& transport, std::string principal,
                   FinishedHandler finished);
  ~StreamConnection() override;
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  void Start() { transport_.Start(*this); }

  // Ends the connection for reasons of ours: cancels what is in flight, writes what is queued.
  void Close();

  std::size_t in_flight() const { return modern_.size() + legacy_.in_flight(); }

 private:
  class Sink;

  void OnMessage(std::string_view text) override;
  void OnRefusedMessage(const Error& error) override;
  void OnEndOfInput() override;
  void OnClosed(const Status& reason) override;

  void HandleModern(Request request);
  // Whether the notification was a cancellation of a modern request.
  bool CancelModern(const Notification& notification);
  void Refuse(const std::optional<RequestId>& id, const RpcError& error);
  void CancelAll();
  void FinishDrainIfIdle();

  Server& server_;
  Transport& transport_;
  const std::string principal_;
  FinishedHandler finished_;
  boost::asio::steady_timer drain_timer_;
  const std::shared_ptr<MessageSink> sink_;
  LegacySession legacy_;
  std::map<RequestId, PendingCall*> modern_;  // in flight
  bool modern_seen_ = false;                  // a modern request other than server/discover came
  bool draining_ = false;
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // dies with the connection
};

}  // namespace glovebox::mcp

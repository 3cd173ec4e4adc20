#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"
#include "mcp/event_log.h"
#include "mcp/http_reply.h"
#include "mcp/sse.h"

namespace glovebox::mcp {

// The streams of one legacy session. A stream is more than the connection that carries it: when
// that breaks, or is let go, messages gather in the log, and the client has the rest when it comes
// back with the id of the last event it saw.
//
// Thread rule: the thread of the server's io_context. Owned by a shared_ptr.
class SessionStreams : public std::enable_shared_from_this<SessionStreams> {
 public:
  SessionStreams(std::size_t replay_bytes_max, std::shared_ptr<ReplayBudget> budget,
                 std::shared_ptr<SseStream::KeepAlive> keep_alive);

  // From the revision that has them on, streams begin with a priming event.
  void set_priming(bool priming) { priming_ = priming; }

  // Commits `exchange` to a new stream.
  std::uint64_t Open(const std::shared_ptr<HttpExchange>& exchange);
  // One JSON message on an open stream.
  void Send(std::uint64_t stream, std::string message);
  // Ends the connection and has the client come back after `retry`; the stream stays open.
  void Release(std::uint64_t stream, std::chrono::milliseconds retry);
  // The last message has been sent.
  void Close(std::uint64_t stream);
  // The same, but there will be no answer: the request was withdrawn.
  void Abandon(std::uint64_t stream);
  // True while messages pile up: the client reads too slowly, or has been away for long.
  bool congested(std::uint64_t stream) const;

  // The stream for what belongs to no request. Before the first one is opened such messages are
  // dropped: nobody was promised them.
  bool has_listener() const;
  void OpenStandalone(const std::shared_ptr<HttpExchange>& exchange);
  void SendStandalone(std::string message);
  void CloseStandalone();
  bool standalone_congested() const { return standalone_ && congested(*standalone_); }

  // Commits `exchange` to a stream that is `events` and then ends.
  void OpenEnded(const std::shared_ptr<HttpExchange>& exchange, std::string events = {});

  // Commits `exchange` to the rest of the stream in which `last` was, ending an older connection of
  // the same stream; where the stream was abandoned, answers 204, which ends the client's attempts.
  // Nothing has been committed when this fails: kInvalidArgument, or kLimit when the events are no
  // longer kept.
  Status Resume(EventId last, const std::shared_ptr<HttpExchange>& exchange);

 private:
  void Attach(std::uint64_t stream, const std::shared_ptr<HttpExchange>& exchange);

  EventLog log_;
  const std::shared_ptr<SseStream::KeepAlive> keep_alive_;
  std::map<std::uint64_t, std::shared_ptr<SseStream>> open_;  // null while nobody is connected
  std::deque<std::uint64_t> abandoned_;                       // the last few
  std::optional<std::uint64_t> standalone_;
  bool priming_ = false;
};

// The reply to a legacy request. The client may go away and come back; only a notification cancels.
class LegacyReply final : public HttpReply, public std::enable_shared_from_this<LegacyReply> {
 public:
  LegacyReply(std::shared_ptr<HttpExchange> exchange, std::shared_ptr<SessionStreams> streams,
              const ReplyTimers& timers);

  // For a request that has been handed over with this reply: watches the clock, unless there is an
  // answer already.
  void Await();

  void OpenStream() override;
  void Send(boost::json::object message) override;
  void Finish(boost::json::value message, const RpcError* error) override;
  // Ends the response without an answer.
  void Abandon() override;
  bool congested() const override;
  void Release(std::chrono::milliseconds retry) override;

 private:
  std::shared_ptr<HttpExchange> exchange_;  // until the response is committed
  const std::shared_ptr<SessionStreams> streams_;
  const std::shared_ptr<DelayQueue<HttpReply>> stream_after_;
  std::optional<std::uint64_t> stream_;
};

}  // namespace glovebox::mcp

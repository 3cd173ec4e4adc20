#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "mcp/event_log.h"
#include "mcp/http_reply.h"
#include "mcp/legacy_session.h"
#include "mcp/server.h"
#include "mcp/session_streams.h"

namespace glovebox::mcp {

// An older revision has another transport over HTTP.
inline constexpr ProtocolVersion kOldestVersionOverHttp = ProtocolVersion::k2025_03_26;

// A legacy client over HTTP: its conversation and its streams.
class HttpSession {
 public:
  HttpSession(Server& server, std::string session_principal,
              std::shared_ptr<SessionStreams> session_streams);

  // A request in work, or a client that listens.
  bool busy() const { return legacy.in_flight() > 0 || streams->has_listener(); }

  const std::string id;         // unguessable; visible ASCII
  const std::string principal;  // the only one who may use it
  const std::shared_ptr<SessionStreams> streams;
  LegacySession legacy;
  std::chrono::steady_clock::time_point last_used = std::chrono::steady_clock::now();
};

struct HttpSessionLimits {
  std::size_t sessions_max = 0;
  std::size_t sessions_per_client_max = 0;
  std::chrono::milliseconds idle_max{0};
  std::size_t replay_bytes_max = 0;        // of one session
  std::size_t replay_bytes_total_max = 0;  // of all
};

// The legacy sessions of an endpoint. One that is idle for too long ends; where the number is at
// its bound the longest idle one makes room. Busy ones stay.
//
// Thread rule: the thread of the server's io_context.
class HttpSessions {
 public:
  HttpSessions(Server& server, HttpSessionLimits limits,
               std::shared_ptr<SseStream::KeepAlive> keep_alive);
  ~HttpSessions();
  HttpSessions(const HttpSessions&) = delete;
  HttpSessions& operator=(const HttpSessions&) = delete;

  // A session that nobody can find yet. kLimit when there is no room for it.
  Result<std::unique_ptr<HttpSession>> Create(const std::string& principal);
  void Add(std::unique_ptr<HttpSession> session);

  // Null when there is none of that id, or when it is another principal's. Counts as use.
  HttpSession* Find(std::string_view id, std::string_view principal);
  // Cancels its requests and ends its streams.
  void Remove(const HttpSession& session);

  // Ends the streams of clients that only listen.
  void EndListening();

  std::size_t size() const { return by_id_.size(); }

 private:
  using List = std::list<std::unique_ptr<HttpSession>>;

  void Touch(List::iterator session);
  void Erase(List::iterator session);
  // Ends the longest idle session among those of `principal`, or of anybody if it is null.
  bool MakeRoom(const std::string* principal);
  void Sweep();
  void ArmSweep();

  Server& server_;
  const HttpSessionLimits limits_;
  const std::shared_ptr<SseStream::KeepAlive> keep_alive_;
  const std::shared_ptr<ReplayBudget> budget_;
  List by_use_;  // the longest unused one first
  std::map<std::string, List::iterator, std::less<>> by_id_;
  std::map<std::string, std::size_t, std::less<>> per_client_;
  boost::asio::steady_timer sweep_timer_;
  bool sweeping_ = false;
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // dies with the sessions
};

}  // namespace glovebox::mcp

#include "mcp/http_session.h"

#include <algorithm>
#include <utility>

#include "mcp/json_writer.h"
#include "mcp/random_name.h"

namespace glovebox::mcp {
namespace {

namespace json = boost::json;

// How many times idle sessions are looked for while one becomes too old.
constexpr int kSweepsPerIdleTime = 8;

// Messages of a session that belong to no request.
class StandaloneSink final : public MessageSink {
 public:
  explicit StandaloneSink(std::shared_ptr<SessionStreams> streams) : streams_(std::move(streams)) {}

  void Send(json::object message) override { streams_->SendStandalone(WriteJson(message)); }
  void Finish(json::value, const RpcError*) override {}
  void Abandon() override {}
  bool congested() const override { return streams_->standalone_congested(); }

 private:
  const std::shared_ptr<SessionStreams> streams_;
};

}  // namespace

HttpSession::HttpSession(Server& server, std::string session_principal,
                         std::shared_ptr<SessionStreams> session_streams)
    : id(RandomName()),
      principal(std::move(session_principal)),
      streams(std::move(session_streams)),
      legacy(server, principal, std::make_shared<StandaloneSink>(streams), kOldestVersionOverHttp) {
}

HttpSessions::HttpSessions(Server& server, HttpSessionLimits limits,
                           std::shared_ptr<SseStream::KeepAlive> keep_alive)
    : server_(server),
      limits_(limits),
      keep_alive_(std::move(keep_alive)),
      budget_(std::make_shared<ReplayBudget>(ReplayBudget{limits.replay_bytes_total_max, 0})),
      sweep_timer_(server.executor()) {}

HttpSessions::~HttpSessions() {
  while (!by_use_.empty()) Erase(by_use_.begin());
}

Result<std::unique_ptr<HttpSession>> HttpSessions::Create(const std::string& principal) {
  const auto mine = per_client_.find(principal);
  if (mine != per_client_.end() && mine->second >= limits_.sessions_per_client_max &&
      !MakeRoom(&principal)) {
    return Error(Errc::kLimit, "too many sessions of this client are busy (limit " +
                                   std::to_string(limits_.sessions_per_client_max) + ")");
  }
  if (by_id_.size() >= limits_.sessions_max && !MakeRoom(nullptr)) {
    return Error(Errc::kLimit,
                 "too many sessions are busy (limit " + std::to_string(limits_.sessions_max) + ")");
  }
  auto streams = std::make_shared<SessionStreams>(limits_.replay_bytes_max, budget_, keep_alive_);
  return std::make_unique<HttpSession>(server_, principal, std::move(streams));
}

void HttpSessions::Add(std::unique_ptr<HttpSession> session) {
  const std::string id = session->id;
  ++per_client_[session->principal];
  by_id_.emplace(id, by_use_.insert(by_use_.end(), std::move(session)));
  ArmSweep();
}

HttpSession* HttpSessions::Find(std::string_view id, std::string_view principal) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  const auto session = found->second;
  if ((*session)->principal != principal) return nullptr;
  const auto idle = std::chrono::steady_clock::now() - (*session)->last_used;
  if (idle > limits_.idle_max && !(*session)->busy()) {
    Erase(session);
    return nullptr;
  }
  Touch(session);
  return session->get();
}

void HttpSessions::Remove(const HttpSession& session) {
  const auto found = by_id_.find(session.id);
  if (found != by_id_.end()) Erase(found->second);
}

void HttpSessions::EndListening() {
  for (const auto& session : by_use_) session->streams->CloseStandalone();
}

void HttpSessions::Touch(List::iterator session) {
  (*session)->last_used = std::chrono::steady_clock::now();
  by_use_.splice(by_use_.end(), by_use_, session);
}

void HttpSessions::Erase(List::iterator session) {
  // Out of the books before cancel hooks run.
  const auto ended = std::move(*session);
  by_id_.erase(ended->id);
  by_use_.erase(session);
  const auto client = per_client_.find(ended->principal);
  if (--client->second == 0) per_client_.erase(client);
  ended->legacy.End();
  ended->streams->CloseStandalone();
}

bool HttpSessions::MakeRoom(const std::string* principal) {
  for (auto session = by_use_.begin(); session != by_use_.end(); ++session) {
    if ((*session)->busy() || (principal != nullptr && (*session)->principal != *principal)) {
      continue;
    }
    Erase(session);
    return true;
  }
  return false;
}

void HttpSessions::Sweep() {
  const auto now = std::chrono::steady_clock::now();
  auto next = by_use_.begin();
  for (std::size_t left = by_use_.size(); left > 0; --left) {
    const auto session = next++;
    if ((*session)->busy()) {
      Touch(session);
    } else if (now - (*session)->last_used > limits_.idle_max) {
      Erase(session);
    }
  }
  ArmSweep();
}

void HttpSessions::ArmSweep() {
  if (sweeping_ || by_use_.empty()) return;
  sweeping_ = true;
  sweep_timer_.expires_after(
      std::max(limits_.idle_max / kSweepsPerIdleTime, std::chrono::milliseconds(1)));
  sweep_timer_.async_wait(
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (error || alive.expired()) return;
        sweeping_ = false;
        Sweep();
      });
}

}  // namespace glovebox::mcp

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>

#include "mcp/client.h"
#include "mcp/client_core.h"

namespace glovebox::mcp {

// What a caller asked for.
struct ClientCallPlan {
  std::string method;
  boost::json::object params;
  RequestOptions options;
  // Looks at each complete result; the params of a further request, or nothing when that was all.
  // For lists, which come in pages. May be null.
  std::function<Result<std::optional<boost::json::object>>(const boost::json::object& result)> next;
  Callback<RpcOutcome> done;
};

// One wish of a caller from its first request to its end, however many that takes: pages of a list,
// rounds of questions (`input_required`), a task that is polled, a session that had to be renewed,
// headers that had to be learnt. Watches the time.
class ClientCall final : public ClientOperation, public std::enable_shared_from_this<ClientCall> {
 public:
  // `done` runs once unless Cancel or Discard comes first; never from inside this.
  static std::shared_ptr<ClientCall> Start(ClientCore& core, ClientCallPlan plan);

  ClientCall(ClientCore& core, ClientCallPlan plan);

  void Cancel() override;
  void Lose(const Error& reason) override { Finish(reason); }
  void Discard() override;

 private:
  using Clock = std::chrono::steady_clock;
  using Answers = std::function<void(boost::json::object answers)>;

  void Send();
  void OnAnswer(ClientCore::Answer answer);
  void OnError(const RpcError& error);
  void OnResult(const boost::json::object& result);
  void Complete(boost::json::object result);
  void RenewSession();
  void LearnTools(const RpcError& error);

  // Has the questions in `result` answered, one after the other; those under `known` keys are
  // passed over. An answer that cannot be had ends the call.
  void AskAll(const boost::json::object& result, const std::set<std::string>& known,
              Answers answered);
  struct Round;
  void AskNext(const std::shared_ptr<Round>& round);

  void OnInputRequired(const boost::json::object& result);
  void OnTask(const boost::json::object& result);
  void Poll();
  void OnTaskStatus(ClientCore::Answer answer);
  void AnswerTask(const boost::json::object& result);

  void Touch() { heard_ = Clock::now(); }
  void Watch();
  void OnWatch();
  void GiveUp(const Error& reason);  // withdraws what is under way
  void Withdraw(std::string_view reason);
  void Finish(Result<RpcOutcome> outcome);

  ClientCore* core_;  // valid until it is over
  const ClientCallPlan plan_;
  boost::json::object params_;           // of the request to send next
  boost::json::object input_responses_;  // to be sent along, with the state
  std::optional<std::string> request_state_;
  std::int64_t wire_ = 0;           // the request under way; 0: none
  std::string task_;                // the task it went on as; may be empty
  std::set<std::string> answered_;  // questions of the task
  std::size_t rounds_ = 0;
  bool renewed_ = false;  // the session was; once is enough
  bool learnt_ = false;   // which headers the tool wants
  bool over_ = false;

  const Clock::time_point begun_ = Clock::now();
  Clock::time_point heard_ = begun_;  // the server's last sign of life
  boost::asio::steady_timer watch_;
  boost::asio::steady_timer poll_;
};

// Starts a call for all pages of tools/list that teaches the core which arguments go into headers,
// and leaves out tools whose definition breaks that rule where it matters.
RequestHandle ListAllTools(ClientCore& core, RequestOptions options,
                           Callback<std::vector<ToolDefinition>> callback);

}  // namespace glovebox::mcp

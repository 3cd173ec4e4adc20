#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>

#include "mcp/client_channel.h"
#include "mcp/client_options.h"
#include "mcp/tool_registry.h"

namespace glovebox::mcp {

class ClientHandshake;

std::string DurationText(std::chrono::milliseconds time);  // "60 s", "250 ms"

// Something a caller waits for; owned by the core until it is over.
class ClientOperation {
 public:
  virtual ~ClientOperation() = default;
  virtual void Cancel() = 0;
  // The server is gone, or the client was closed.
  virtual void Lose(const Error& reason) = 0;
  // The client is gone, and the core with it: nothing more is said to anybody.
  virtual void Discard() = 0;
};

// The heart of a client (client.h): requests and their answers, what the server says besides, what
// it asks. Of everything a server may send, the part that concerns no particular method ends here.
//
// Thread rule: the thread of the io_context. Callbacks may let go of the client; the core then
// lives until they return, and says nothing more.
class ClientCore final : public std::enable_shared_from_this<ClientCore>,
                         private ClientChannel::Receiver {
 public:
  using Answer = std::variant<boost::json::object, RpcError, ClientChannel::Failure>;

  // One request on the wire.
  struct Wire {
    std::string method;
    boost::json::object params = {};
    HttpHeaders param_headers = {};
    std::function<void(const Progress&)> on_progress = nullptr;
    // Once, never from inside Send, and not after Withdraw.
    std::function<void(Answer)> on_answer;
  };

  ClientCore(boost::asio::any_io_executor executor, std::unique_ptr<ClientChannel> channel,
             ClientOptions options);
  ~ClientCore() override;

  void Start() { channel_->Start(*this); }
  // The client is gone: nothing is heard or said any more.
  void Abandon();
  void Close(std::function<void()> done);

  void Connect(std::function<void(Result<ServerDescription>)> callback);
  // Opens a new session where the server has forgotten ours. Several wishes are one.
  void Renew(std::function<void(const Status&)> done);

  std::int64_t Send(Wire wire);
  // Its answer is not wanted any more; the server is told why, unless `reason` is empty.
  void Withdraw(std::int64_t id, std::string_view reason);

  // Keeps an operation until Remove.
  void Add(std::shared_ptr<ClientOperation> operation);
  void Remove(ClientOperation& operation);
  // Why an operation cannot begin now; nothing when it can.
  std::optional<Error> Unready() const;

  // Puts a question of the server to its handler. kLimit when too many are open.
  void Ask(const InputRequest& request, std::function<void(Result<boost::json::object>)> done);
  // The last time a question was open; for the patience of those who wait for the server.
  std::chrono::steady_clock::time_point last_asked() const;
  // The last that it did since then and that makes no sense; for the error of who waits in vain.
  std::string MisbehaviourSince(std::chrono::steady_clock::time_point time) const;
  void Misbehaved(const Error& error) { OnMisbehaviour(error); }

  // Which arguments of a tool are repeated in headers, as far as its list was read.
  void Learn(const ToolDefinition& tool, std::vector<HeaderParameter> parameters);
  HttpHeaders ParameterHeadersOf(const boost::json::object& call_params) const;

  const boost::asio::any_io_executor& executor() const { return executor_; }
  ClientChannel& channel() { return *channel_; }
  const ClientOptions& options() const { return options_; }
  const std::optional<ServerDescription>& server() const { return server_; }
  bool modern() const { return IsModern(speaking_); }
  const ClientCapabilities& capabilities() const { return capabilities_; }
  // The revision of the requests that follow; for the handshake.
  void Speak(ProtocolVersion version) { speaking_ = version; }

 private:
  void OnMessage(Message message) override;
  void OnNoAnswer(std::int64_t id, const ClientChannel::Failure& failure) override;
  void OnMisbehaviour(const Error& error) override;
  void OnClosed(const Status& reason) override;

  void Settle(std::int64_t id, Answer answer);
  void HandleResponse(Response response);
  void HandleInvalid(const InvalidMessage& invalid);
  void HandleRequest(Request request);
  void HandleNotification(const Notification& notification);
  bool HandleChange(const Notification& notification);
  void AddEnvelope(boost::json::object& params, const Wire& wire, std::int64_t id) const;
  // What the options want from a server that has just been connected to.
  void Subscribe();
  void Listen();

  const boost::asio::any_io_executor executor_;
  std::unique_ptr<ClientChannel> channel_;
  const ClientOptions options_;
  ClientCapabilities capabilities_;
  ProtocolVersion speaking_ = kNewestLegacyVersion;
  std::optional<ServerDescription> server_;
  std::shared_ptr<ClientHandshake> handshake_;  // under way
  std::vector<std::function<void(const Status&)>> renewals_;

  std::map<std::int64_t, Wire> wires_;
  std::int64_t last_id_ = 0;
  std::set<std::shared_ptr<ClientOperation>> operations_;
  std::set<RequestId> questions_;  // of the server (legacy era), not answered yet
  std::size_t open_questions_ = 0;
  std::chrono::steady_clock::time_point last_asked_{};
  std::string last_misbehaviour_;
  std::chrono::steady_clock::time_point misbehaved_at_{};
  std::map<std::string, std::vector<HeaderParameter>, std::less<>> header_parameters_;

  std::int64_t listen_id_ = 0;  // of subscriptions/listen; 0: none under way
  std::chrono::milliseconds listen_pause_{1000};
  boost::asio::steady_timer listen_timer_;

  std::function<void()> closed_;
  bool closing_ = false;
  bool lost_ = false;       // the channel is over
  bool abandoned_ = false;  // the client is gone
};

}  // namespace glovebox::mcp

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "mcp/jsonrpc.h"
#include "mcp/version.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// A request on its way to a server.
struct OutgoingRequest {
  std::int64_t id = 0;
  std::string method;
  boost::json::object params;
  HttpHeaders param_headers;  // Mcp-Param-*: arguments repeated for gateways; HTTP only
};

// How messages get to one server and back: a pipe that all requests share
// (stdio_client_channel.h), or one HTTP exchange for each (http_client_channel.h). Knows JSON-RPC;
// of MCP only what the way of travelling depends on.
//
// Thread rule: the thread of the io_context. No callback comes from inside a call; each may destroy
// the channel. After destruction there is none.
class ClientChannel {
 public:
  // Why a request will get no answer.
  struct Failure {
    Error error;
    unsigned http_status = 0;   // of the response that was no answer; 0: there was none
    bool session_lost = false;  // legacy HTTP: the server does not know our session any more
  };

  class Receiver {
   public:
    virtual ~Receiver() = default;
    // Whatever the server sent, checked to be JSON within the limits and no more.
    virtual void OnMessage(Message message) = 0;
    // The request is over without an answer; others are not concerned.
    virtual void OnNoAnswer(std::int64_t id, const Failure& failure) = 0;
    // The server sent something that belongs to no request and makes no sense. It was passed over.
    virtual void OnMisbehaviour(const Error& error) = 0;
    // The server is gone. The last callback; success only after Close.
    virtual void OnClosed(const Status& reason) = 0;
  };

  virtual ~ClientChannel() = default;

  // Once, before everything else. `receiver` must outlive the channel.
  virtual void Start(Receiver& receiver) = 0;

  virtual void Ask(OutgoingRequest request) = 0;
  // Its answer is not wanted any more. Where closing_cancels(), this tells the server so.
  virtual void Forget(std::int64_t id) = 0;
  virtual bool closing_cancels() const = 0;

  // `sent` runs when the server has it, or the attempt failed, as far as the carrier can tell.
  virtual void Notify(std::string_view method, boost::json::object params,
                      std::function<void()> sent = nullptr) = 0;
  // A response to a request of the server (legacy era).
  virtual void Answer(boost::json::object message) = 0;

  // What was agreed on; from then on messages travel as that revision wants them.
  virtual void Adopt(ProtocolVersion version) = 0;
  // Whether requests need param_headers.
  virtual bool mirrors_parameters() const = 0;

  // Begins anew with a server that went away: a program is started again, a session forgotten.
  // False where that cannot be.
  virtual bool Restart() = 0;

  // Takes leave as the carrier has it, then reports OnClosed. Bounded in time.
  virtual void Close() = 0;
};

}  // namespace glovebox::mcp

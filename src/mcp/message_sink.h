#pragma once

#include <chrono>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "mcp/jsonrpc.h"

namespace glovebox::mcp {

// Where the messages about one request go: the pipe all requests share, one HTTP response, a batch.
//
// Thread rule: the thread of the server's io_context. Nothing here calls back into the sender.
class MessageSink {
 public:
  virtual ~MessageSink() = default;

  // A notification, or a request of ours to the client, about the request in work.
  virtual void Send(boost::json::object message) = 0;

  // The answer, and the last message: an object, or the array that answers a batch. `error` is what
  // `message` carries, or null for a result: some carriers have a status for it. One of Finish and
  // Abandon is called, once.
  virtual void Finish(boost::json::value message, const RpcError* error) = 0;
  // There will be no answer: the request was withdrawn.
  virtual void Abandon() = 0;

  // True while the client reads slower than we write. What may be left out should be, then.
  virtual bool congested() const = 0;

  // See Call::ReleaseStream.
  virtual void Release(std::chrono::milliseconds /*retry*/) {}
};

}  // namespace glovebox::mcp

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace glovebox {

// Moves whole messages between us and one peer. Knows no method and no JSON.
//
// Thread rule: every call and every callback on the thread that runs the transport's io_context.
// Limits: one incoming message and the queue of outgoing bytes are bounded by the implementation's
// options; nothing a peer sends or fails to read makes memory grow beyond them.
// Back-pressure: while the peer does not read, nothing more is read from it.
class Transport {
 public:
  // Hears what the peer does. No callback comes from inside Start, Send or Close.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    // One message without its framing; the view is valid during the call. Bytes as they came:
    // neither UTF-8 nor JSON was checked.
    virtual void OnMessage(std::string_view message) = 0;
    // A message over the size limit was thrown away; the stream continues after it.
    virtual void OnRefusedMessage(const Error& error) = 0;
    // The peer will send nothing more. Send still works: the peer may be reading.
    virtual void OnEndOfInput() = 0;
    // Nothing can be sent any more, and nothing will be received. Comes at most once and is the
    // last callback: after Close() with success, or with the reason the peer was lost.
    virtual void OnClosed(const Status& reason) = 0;
  };

  virtual ~Transport() = default;

  // Begins to receive. Once. `receiver` must outlive the transport or the call to OnClosed.
  virtual void Start(Receiver& receiver) = 0;

  // Queues one message, which must hold no newline. Never blocks; after the end it does nothing.
  // A queue over its hard limit ends the transport: that peer has stopped reading.
  virtual void Send(std::string message) = 0;

  // True while the peer reads slower than we write. What may be left out should be, then.
  virtual bool congested() const = 0;

  // Stops receiving, writes what is queued, then reports OnClosed.
  virtual void Close() = 0;
};

}  // namespace glovebox

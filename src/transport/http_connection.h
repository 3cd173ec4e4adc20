#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "transport/coroutine.h"
#include "transport/http_outgoing.h"
#include "transport/http_request_reader.h"
#include "transport/http_server.h"

namespace glovebox {

// One accepted connection, as one coroutine (Serve): read a request, hand it to the handler, wait
// until its response is written, again; at the end let the peer read before we close.
//
// Beside the coroutine there are three operations, at most one of each in flight: a read, a wait
// for room to write, and a wait for an error. Each keeps the connection alive. The read goes on
// while a response is pending: it costs nothing then, takes at most one buffer of the next request,
// and tells when the peer leaves.
//
// Time-outs are deadlines that the owner looks at (Tick); nothing is armed per request.
//
// Thread rule: the thread of the io_context.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Clock = std::chrono::steady_clock;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  // The server, as a connection sees it. Must stay until Abandon or OnConnectionClosed.
  class Owner {
   public:
    virtual HttpHandler& handler() = 0;
    virtual const HttpServerOptions& options() const = 0;
    // When a time-out of that length, begun now, is over: never early, late by little.
    virtual Clock::time_point DeadlineIn(std::chrono::milliseconds time) const = 0;
    virtual bool draining() const = 0;
    // Once, when the socket is closed. The owner's reference may be the last one but one.
    virtual void OnConnectionClosed(HttpConnection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  // `socket` must be connected and non-blocking.
  HttpConnection(Socket socket, const std::string& peer, Owner& owner);
  ~HttpConnection();

  void Start();
  // Instead of Start: answers `refusal` to whatever comes, and closes.
  void StartRefusing(HttpResponse refusal);

  // Acts on deadlines that have passed.
  void Tick(Clock::time_point now);
  // Closes if nothing is under way; otherwise the response at hand is the last one.
  void Drain();
  // Closes at once. The exchange's disconnect hook runs.
  void Disconnect();
  // Closes at once and forgets the owner. No hook runs.
  void Abandon();

 private:
  class Exchange;
  struct Suspension;

  enum class Phase {
    kIdle,      // waiting for the first byte of a request
    kHead,      // reading
    kBody,      // reading
    kAwaiting,  // the handler has the request, the response has not begun
    kStreaming,
    kFlushing,   // the response is complete, part of it waits for the peer
    kLingering,  // everything is said; what the peer still sends is thrown away
    kClosed,
  };

  Coroutine Serve();
  bool BeginAnew();
  void Wake();
  void EnterPhase(Phase phase);
  bool reading() const { return phase_ <= Phase::kBody; }
  bool responding() const { return phase_ == Phase::kAwaiting || phase_ == Phase::kStreaming; }

  // Reading.
  bool ReadOn();
  void OnHead();
  void HandOver();
  void StartRead();
  void OnRead(const boost::system::error_code& error, std::size_t count);
  void OnEndOfInput();
  void WatchForError();

  // What the exchange asks for; only from the one that is current_.
  void Respond(HttpResponse response);
  void StartStream(unsigned status, HttpHeaders headers);
  void Write(std::string bytes);
  void End();
  void OnDropped();

  // Writing.
  void Refuse(HttpResponse response);
  HttpFraming Framing(HttpFraming::Body body);
  void CompleteResponse();
  void ScheduleFlush();
  void Flush();
  void WaitToWrite();
  bool PeerTakesBytes();

  void Close();

  Socket socket_;
  Owner* owner_;  // null after the end
  HttpRequestReader reader_;
  OutgoingBytes out_;
  Coroutine coroutine_;

  Phase phase_ = Phase::kIdle;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool suspended_ = false;  // the coroutine waits to be woken
  bool served_ = false;     // a request before

  bool reading_ = false;      // a read is in flight
  bool watching_ = false;     // a wait for an error is
  bool input_ended_ = false;  // the peer sends nothing more
  std::size_t lingered_bytes_ = 0;

  bool flush_posted_ = false;
  bool blocked_ = false;  // a wait for room is in flight
  Clock::time_point write_deadline_ = Clock::time_point::max();
  int unsent_bytes_ = 0;  // in the kernel, when last looked at

  Exchange* current_ = nullptr;  // whose response it is; null once that is complete or dropped
  bool in_handler_ = false;      // inside Handle: the coroutine will flush
  bool chunked_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool given_up_ = false;  // too much waits for the peer; we are about to disconnect
  bool peer_gone_ = false;
  std::function<void()> on_disconnect_;
  std::function<void()> on_half_close_;
};

}  // namespace glovebox

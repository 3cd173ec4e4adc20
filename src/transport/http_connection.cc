#include "transport/http_connection.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "base/await_readable.h"

namespace glovebox {

using boost::system::error_code;

namespace {

// How long, and how much, a peer may go on sending after our last word. Closing with something
// unread would make the kernel take that word back.
constexpr std::chrono::milliseconds kLingerTimeMax{5000};
constexpr std::chrono::milliseconds kDrainLingerTimeMax{500};
constexpr std::size_t kLingerBytesMax = std::size_t{64} << 20;

HttpResponse PlainResponse(unsigned status, const std::string& sentence) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, sentence + "\n"};
}

}  // namespace

// What the handler holds. Speaks for the connection's response while it is the current one.
class HttpConnection::Exchange final : public HttpExchange {
 public:
  explicit Exchange(std::shared_ptr<HttpConnection> connection)
      : connection_(std::move(connection)) {}
  ~Exchange() override {
    if (current()) connection_->OnDropped();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void Respond(HttpResponse response) override {
    CHECK(!started_);
    started_ = complete_ = true;
    if (current()) connection_->Respond(std::move(response));
  }
  void StartStream(unsigned status, HttpHeaders headers) override {
    CHECK(!started_);
    started_ = true;
    if (current()) connection_->StartStream(status, std::move(headers));
  }
  void Write(std::string bytes) override {
    CHECK(started_);
    if (current()) connection_->Write(std::move(bytes));
  }
  void End() override {
    CHECK(started_);
    complete_ = true;
    if (current()) connection_->End();
  }
  bool started() const override { return started_; }
  bool congested() const override {
    return current() &&
           connection_->out_.size() > connection_->owner_->options().outgoing_bytes_high_water;
  }

  void OnDisconnect(std::function<void()> hook) override {
    if (current()) {
      connection_->on_disconnect_ = std::move(hook);
    } else if (!complete_ && connection_->peer_gone_) {
      boost::asio::post(connection_->socket_.get_executor(), std::move(hook));
    }
  }
  void OnHalfClose(std::function<void()> hook) override {
    if (!current()) return;
    connection_->on_half_close_ = std::move(hook);
    if (!connection_->input_ended_) return;
    boost::asio::post(connection_->socket_.get_executor(),
                      [connection = connection_] { connection->OnEndOfInput(); });
  }

 private:
  bool current() const { return connection_->current_ == this; }

  const std::shared_ptr<HttpConnection> connection_;
  bool started_ = false;
  bool complete_ = false;
};

// Lets go of the thread until Wake.
struct HttpConnection::Suspension {
  HttpConnection& connection;

  bool await_ready() const noexcept { return false; }
  void await_suspend(Coroutine::Handle) noexcept { connection.suspended_ = true; }
  void await_resume() const noexcept {}
};

HttpConnection::HttpConnection(Socket socket, const std::string& peer, Owner& owner)
    : socket_(std::move(socket)),
      owner_(&owner),
      reader_({owner.options().head_bytes_max, owner.options().body_bytes_max}, peer) {}
HttpConnection::~HttpConnection() = default;

void HttpConnection::Start() {
  EnterPhase(Phase::kIdle);
  coroutine_ = Serve();
  coroutine_.Wake();
}

void HttpConnection::StartRefusing(HttpResponse refusal) {
  Refuse(std::move(refusal));
  coroutine_ = Serve();
  coroutine_.Wake();
}

void HttpConnection::Wake() {
  if (std::exchange(suspended_, false)) coroutine_.Wake();
}

// The life of a connection. Whatever it calls may close the connection, without waking it: then
// every loop here ends.
Coroutine HttpConnection::Serve() {
  try {
    do {
      while (ReadOn()) {
        StartRead();
        co_await Suspension{*this};
      }
      while (responding() || (phase_ == Phase::kFlushing && !out_.empty())) {
        co_await Suspension{*this};
      }
    } while (BeginAnew());
    while (phase_ == Phase::kLingering && !input_ended_ && lingered_bytes_ < kLingerBytesMax) {
      if (!reading_) reader_.Discard();
      StartRead();
      co_await Suspension{*this};
    }
  } catch (...) {
    // The handler's, or memory is out: this peer is lost, and nobody else.
  }
  Close();
}

// After a response. False when it was the last one.
bool HttpConnection::BeginAnew() {
  on_disconnect_ = on_half_close_ = nullptr;
  head_only_ = false;
  served_ = true;
  if (phase_ == Phase::kClosed) return false;
  const bool again = keep_alive_ && !owner_->draining();
  EnterPhase(again ? Phase::kIdle : Phase::kLingering);
  return again;
}

void HttpConnection::EnterPhase(Phase phase) {
  phase_ = phase;
  const HttpServerOptions& options = owner_->options();
  switch (phase) {
    case Phase::kIdle:
      deadline_ = owner_->DeadlineIn(served_ ? options.idle_time_max : options.head_time_max);
      break;
    case Phase::kHead: deadline_ = owner_->DeadlineIn(options.head_time_max); break;
    case Phase::kBody: deadline_ = owner_->DeadlineIn(options.body_time_max); break;
    case Phase::kLingering: {
      error_code ignored;  // a peer that is gone shows when we read
      socket_.shutdown(Socket::shutdown_send, ignored);
      deadline_ = owner_->DeadlineIn(owner_->draining() ? kDrainLingerTimeMax : kLingerTimeMax);
      break;
    }
    case Phase::kAwaiting:
    case Phase::kStreaming:
    case Phase::kFlushing:
    case Phase::kClosed: deadline_ = Clock::time_point::max(); break;
  }
}

// --- reading ---

// Goes as far as the bytes that are here allow. True while the request needs more of them; after
// that it is with the handler, or refused.
bool HttpConnection::ReadOn() {
  while (reading()) {
    switch (reader_.Advance()) {
      case HttpRequestReader::Step::kNeedMore:
        if (phase_ == Phase::kIdle && !reader_.idle()) EnterPhase(Phase::kHead);
        if (!input_ended_) return true;
        if (phase_ == Phase::kIdle) {
          Close();
        } else {
          Refuse(PlainResponse(400, "the request is not complete, and no more will come"));
        }
        break;
      case HttpRequestReader::Step::kHead: OnHead(); break;
      case HttpRequestReader::Step::kComplete: HandOver(); break;
      case HttpRequestReader::Step::kRefused:
        Refuse(PlainResponse(reader_.refusal().status, reader_.refusal().reason));
        break;
    }
  }
  return false;
}

void HttpConnection::OnHead() {
  head_only_ = reader_.head().method == "HEAD";
  auto refusal = owner_->handler().Screen(reader_.head());
  if (phase_ == Phase::kClosed) return;
  if (refusal) {
    if (reader_.has_body()) return Refuse(std::move(*refusal));
    keep_alive_ = reader_.keep_alive();
    reader_.Take();
    return Respond(std::move(*refusal));
  }
  if (!reader_.has_body()) return;
  EnterPhase(Phase::kBody);
  if (reader_.wants_continue()) {
    out_.Append("HTTP/1.1 100 Continue\r\n\r\n");
    Flush();
  }
}

void HttpConnection::HandOver() {
  keep_alive_ = reader_.keep_alive();
  EnterPhase(Phase::kAwaiting);
  auto exchange = std::make_shared<Exchange>(shared_from_this());
  current_ = exchange.get();
  in_handler_ = true;
  owner_->handler().Handle(reader_.Take(), std::move(exchange));
  in_handler_ = false;
  Flush();
  if (!responding()) return;
  if (reader_.idle() && !input_ended_) {
    StartRead();
  } else {
    WatchForError();
  }
}

void HttpConnection::StartRead() {
  if (reading_ || input_ended_ || phase_ == Phase::kClosed) return;
  reading_ = true;
  socket_.async_read_some(reader_.Prepare(),
                          [self = shared_from_this()](const error_code& error, std::size_t count) {
                            self->reading_ = false;
                            self->OnRead(error, count);
                          });
}

void HttpConnection::OnRead(const error_code& error, std::size_t count) {
  if (phase_ == Phase::kClosed) return;
  if (error && error != boost::asio::error::eof) return Disconnect();
  reader_.Commit(count);
  if (phase_ == Phase::kLingering) lingered_bytes_ += count;
  if (error) input_ended_ = true;
  if (!responding()) return Wake();
  // The next request waits its turn, and the kernel holds the rest of it.
  WatchForError();
  if (input_ended_) OnEndOfInput();
}

void HttpConnection::OnEndOfInput() {
  if (!current_) return;
  if (const auto hook = std::exchange(on_half_close_, nullptr)) hook();
}

// Without a read in flight only this shows that the peer is gone. Urgent data ends the wait too; it
// has no place in HTTP, and a peer that sends it may go.
void HttpConnection::WatchForError() {
  if (watching_) return;
  watching_ = true;
  socket_.async_wait(Socket::wait_error, [self = shared_from_this()](const error_code& error) {
    self->watching_ = false;
    if (error || !self->responding()) return;
    // The reactor may tell what it noticed of a connection that was closed meanwhile.
    const bool gone = IsReady(self->socket_.native_handle(), POLLPRI);
    return gone ? self->Disconnect() : self->WatchForError();
  });
}

// --- the exchange's calls ---

HttpFraming HttpConnection::Framing(HttpFraming::Body body) {
  if (owner_->draining() || body == HttpFraming::Body::kUntilClose) keep_alive_ = false;
  return {body, reader_.http_1_0(), head_only_, keep_alive_};
}

void HttpConnection::Respond(HttpResponse response) {
  AppendHttpResponse(std::move(response), Framing(HttpFraming::Body::kWhole), out_);
  CompleteResponse();
}

void HttpConnection::StartStream(unsigned status, HttpHeaders headers) {
  chunked_ = !reader_.http_1_0();
  const auto body = chunked_ ? HttpFraming::Body::kChunked : HttpFraming::Body::kUntilClose;
  AppendHttpResponse({status, std::move(headers), {}}, Framing(body), out_);
  EnterPhase(Phase::kStreaming);
  ScheduleFlush();
}

void HttpConnection::Write(std::string bytes) {
  if (head_only_ || given_up_) return;
  if (chunked_) {
    AppendHttpChunk(std::move(bytes), out_);
  } else {
    out_.Take(std::move(bytes));
  }
  if (out_.size() <= owner_->options().outgoing_bytes_max) return ScheduleFlush();
  given_up_ = true;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Disconnect(); });
}

void HttpConnection::End() {
  if (chunked_ && !head_only_) AppendHttpLastChunk(out_);
  CompleteResponse();
}

void HttpConnection::OnDropped() {
  current_ = nullptr;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->phase_ == Phase::kAwaiting) {
      self->Respond(PlainResponse(500, "the request was dropped without an answer"));
    } else if (self->phase_ == Phase::kStreaming) {
      self->keep_alive_ = false;  // without its last chunk the peer knows that it was broken off
      self->CompleteResponse();
    }
  });
}

// Answers what cannot be handed over. The rest of the request, if any, goes unread.
void HttpConnection::Refuse(HttpResponse response) {
  keep_alive_ = false;
  Respond(std::move(response));
}

// --- writing ---

// Nothing is added to the response from here on; the coroutine goes on once all of it is written.
// The hooks stay until then, because what they hold may be the caller.
void HttpConnection::CompleteResponse() {
  current_ = nullptr;
  EnterPhase(Phase::kFlushing);
  if (in_handler_) return;
  Flush();
  if (!suspended_ || !out_.empty()) return;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Wake(); });
}

// What is written before the handlers of this turn are through leaves in one system call.
void HttpConnection::ScheduleFlush() {
  if (in_handler_ || blocked_ || std::exchange(flush_posted_, true)) return;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->Flush();
  });
}

void HttpConnection::Flush() {
  if (blocked_ || out_.empty()) return;
  error_code error;
  const std::size_t count = socket_.write_some(out_.Front(), error);
  if (!error) {
    out_.Consume(count);
  } else if (error != boost::asio::error::would_block) {
    return Disconnect();
  }
  if (!out_.empty()) WaitToWrite();
}

void HttpConnection::WaitToWrite() {
  blocked_ = true;
  write_deadline_ = owner_->DeadlineIn(owner_->options().write_time_max);
  PeerTakesBytes();
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code&) {
    self->blocked_ = false;
    self->write_deadline_ = Clock::time_point::max();
    self->Flush();
    if (self->out_.empty()) self->Wake();
  });
}

// Whether the kernel holds less for the peer than when we looked last. A socket becomes writable
// only when much of its buffer is free: a slow reader is not one that has stopped.
bool HttpConnection::PeerTakesBytes() {
  const int before = unsent_bytes_;
  return ::ioctl(socket_.native_handle(), SIOCOUTQ, &unsent_bytes_) == 0 && unsent_bytes_ < before;
}

// --- the owner's calls, and the end ---

void HttpConnection::Tick(Clock::time_point now) {
  if (now >= write_deadline_) {
    if (!PeerTakesBytes()) return Disconnect();
    write_deadline_ = owner_->DeadlineIn(owner_->options().write_time_max);
  }
  if (now < deadline_) return;
  if (phase_ == Phase::kHead || phase_ == Phase::kBody) {
    Refuse(PlainResponse(
        408, phase_ == Phase::kHead ? "the head took too long" : "the body took too long"));
  } else {
    Close();
  }
}

void HttpConnection::Drain() {
  if (phase_ == Phase::kIdle) Close();
  if (phase_ == Phase::kLingering) {
    deadline_ = std::min(deadline_, owner_->DeadlineIn(kDrainLingerTimeMax));
  }
}

void HttpConnection::Disconnect() {
  if (phase_ == Phase::kClosed) return;
  peer_gone_ = true;
  const auto hook = current_ ? std::exchange(on_disconnect_, nullptr) : nullptr;
  Close();
  if (hook) hook();
}

void HttpConnection::Abandon() {
  owner_ = nullptr;
  Close();
}

void HttpConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  deadline_ = write_deadline_ = Clock::time_point::max();
  current_ = nullptr;
  error_code ignored;  // the descriptor is gone in any case
  socket_.close(ignored);
  out_.Clear();
  if (on_disconnect_ || on_half_close_) {
    // What they hold may be the caller.
    boost::asio::post(socket_.get_executor(), [one = std::exchange(on_disconnect_, nullptr),
                                               other = std::exchange(on_half_close_, nullptr)] {});
  }
  if (Owner* owner = std::exchange(owner_, nullptr)) owner->OnConnectionClosed(*this);
}

}  // namespace glovebox

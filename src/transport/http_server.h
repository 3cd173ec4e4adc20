#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"

namespace glovebox {

// HTTP/1.1, server side: heads and bodies within bounds, whole responses and streamed ones. Knows
// neither JSON nor MCP.

struct HttpRequest {
  std::string method;  // "POST"
  std::string target;  // as sent: path and query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string peer;  // the client's address without its port; empty for a Unix socket

  std::string_view path() const;  // target without its query
  // The value of the first header of that name, surrounding blanks removed; names have no case.
  std::optional<std::string_view> Header(std::string_view name) const;
  std::size_t CountHeader(std::string_view name) const;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  unsigned status = 200;
  HttpHeaders headers;
  std::string body;
};

// One request's response. Respond once, or StartStream, Write..., End. Dropping the exchange
// without either answers 500, or breaks a stream off. After the peer is gone everything does
// nothing. The headers Content-Length, Transfer-Encoding and Connection are written by the server,
// not passed in.
//
// May be held longer than the server lives. Thread rule: the thread of the io_context. No hook runs
// inside a call; none after Respond or End, nor because the server is destroyed.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual void Respond(HttpResponse response) = 0;

  // A response of unknown length. What is written in one turn of the io_context leaves together, at
  // the end of the turn.
  virtual void StartStream(unsigned status, HttpHeaders headers) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual void End() = 0;
  virtual bool started() const = 0;  // Respond or StartStream was called

  // True while the peer reads slower than we write: more than the options' high-water mark waits.
  virtual bool congested() const = 0;

  // Runs once if the peer goes away before the response is complete, even if it has gone already.
  virtual void OnDisconnect(std::function<void()> hook) = 0;
  // Runs once if the peer closes its sending side, or has, before the response is complete. It may
  // still be reading, or be gone: only writing can tell. To a peer that is gone a write brings
  // OnDisconnect; one that reads gets its whole answer.
  virtual void OnHalfClose(std::function<void()> hook) = 0;
};

// What a server does with requests.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // A look at the head before the body is read (`body` is empty). A response refuses the request;
  // the connection is closed after it when a body would have followed.
  virtual std::optional<HttpResponse> Screen(const HttpRequest& head) = 0;
  virtual void Handle(HttpRequest request, std::shared_ptr<HttpExchange> exchange) = 0;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an address, or a name that resolves to one
  std::uint16_t port = 0;          // 0: any free one
  std::size_t head_bytes_max = 16u << 10;
  std::size_t body_bytes_max = 16u << 20;
  std::size_t connections_max = 1024;
  std::size_t connections_per_peer_max = 256;
  std::chrono::milliseconds head_time_max{
      10'000};  // from the first byte; also for a new connection
  std::chrono::milliseconds body_time_max{30'000};
  std::chrono::milliseconds idle_time_max{75'000};   // between requests
  std::chrono::milliseconds write_time_max{30'000};  // without the peer taking a single byte
  std::size_t outgoing_bytes_high_water = 1u << 20;
  std::size_t outgoing_bytes_max = 256u << 20;  // a peer that lets this much pile up is given up
};

// Listens and serves until it is stopped.
//
// Thread rule: the thread of the io_context. The handler must outlive the server.
class HttpServer {
 public:
  // Binds and listens; accepting begins at once. kSystem names address and reason.
  static Result<std::unique_ptr<HttpServer>> Listen(boost::asio::io_context& context,
                                                    HttpHandler& handler,
                                                    HttpServerOptions options);
  ~HttpServer();  // closes everything at once; no hook and no `done` runs
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;

  // Accepts no more, closes idle connections, lets requests that have begun and their responses
  // finish (each the last one of its connection) for at most `time_max`; then closes the rest,
  // whose disconnect hooks run, and runs `done`. Once.
  void Drain(std::chrono::milliseconds time_max, std::function<void()> done);

 private:
  class Listener;
  explicit HttpServer(std::shared_ptr<Listener> listener);

  std::shared_ptr<Listener> listener_;
};

}  // namespace glovebox

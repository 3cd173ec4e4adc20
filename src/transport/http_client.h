#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "transport/http_server.h"
#include "transport/http_url.h"

namespace glovebox {

// HTTP/1.1, client side, for one server: requests with whole bodies, responses piece by piece as
// they arrive. Plain TCP. Knows neither JSON nor MCP; follows no redirect.

struct HttpClientRequest {
  std::string method = "GET";
  std::string target = "/";
  HttpHeaders headers = {};  // without Host and Content-Length, which are ours
  std::string body = {};
  // May be sent once more when a kept connection turns out to be dead before any answer came. For
  // requests whose repetition does no harm.
  bool repeatable = false;
};

// A response as far as its body.
struct HttpResponseHead {
  unsigned status = 0;
  std::string reason;
  HttpHeaders headers;

  // The value of the first header of that name; names have no case.
  std::optional<std::string_view> Header(std::string_view name) const;
};

struct HttpClientOptions {
  std::size_t head_bytes_max = 64u << 10;
  std::chrono::milliseconds connect_time_max{10'000};  // name look-up included
  std::chrono::milliseconds write_time_max{30'000};
  // Connections kept for the next request. The time is shorter than the shortest after which usual
  // servers close (5 s); a server that announces less is heeded.
  std::size_t idle_connections_max = 8;
  std::chrono::milliseconds idle_time_max{4'000};
};

// What is heard of one response, in this order: the head, pieces of the body, the end. The end
// comes also alone, when there was no response at all. Never from inside Fetch; any of them may
// destroy the fetch and the client.
struct HttpResponseReceiver {
  std::function<void(const HttpResponseHead& head)> on_head;
  std::function<void(std::string_view piece)> on_body;  // 64 KB at most; the whole is not bounded
  // Success: the response was complete. kSystem: connection refused, lost or silent for too long;
  // kInvalidArgument: what came was not HTTP; kLimit: the head was too large.
  std::function<void(const Status& end)> on_end;
};

// Requests to one server over connections that are reused.
//
// Thread rule: the thread of the io_context. A name in the URL is looked up by Asio's own thread.
class HttpClient {
 public:
  // One request under way. Destroying it cancels: the connection is closed, nothing more is heard.
  class Fetch;

  HttpClient(boost::asio::io_context& context, HttpUrl server, HttpClientOptions options = {});
  ~HttpClient();  // fetches under way go on: they are their owners'
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Sends a request. `head_time_max` bounds the wait for the response's head, `silence_max` that
  // for each further piece of its body; 0 is without bound. A header or target that would break the
  // framing (control characters, blanks in a name) ends the fetch with kInvalidArgument.
  struct Patience {
    std::chrono::milliseconds head_time_max{0};
    std::chrono::milliseconds silence_max{0};
  };
  [[nodiscard]] std::unique_ptr<Fetch> Start(HttpClientRequest request,
                                             HttpResponseReceiver receiver, Patience patience);

  const HttpUrl& server() const;
  std::size_t idle_connections() const;

 private:
  class Pool;
  std::shared_ptr<Pool> pool_;  // fetches in flight hold it too
};

class HttpClient::Fetch {
 public:
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

 private:
  friend class HttpClient;
  class Run;
  explicit Fetch(std::shared_ptr<Run> run);

  std::shared_ptr<Run> run_;
};

}  // namespace glovebox

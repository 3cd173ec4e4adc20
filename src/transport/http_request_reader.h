#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "transport/http_server.h"

namespace glovebox {

struct HttpReadLimits {
  std::size_t head_bytes_max;  // request line and headers; also one chunk's head, or the trailers
  std::size_t body_bytes_max;
};

// Why a request is not taken: the status that says so, and a sentence for the body.
struct HttpRefusal {
  unsigned status;
  std::string reason;
};

// Bytes in, requests out, one after another: heads and bodies within bounds wherever the stream was
// split. Knows no socket, so that it can be driven with bytes alone.
//
//   400  not HTTP; framing that two readers could see differently; no Host, or two; bad chunks
//   413  a body over the limit: by its Content-Length before any of it is read, or chunk by chunk
//   414  the request line alone is over the limit of the head       431  the head is
//   417  an expectation other than 100-continue
//   501  a transfer coding other than chunked
//   505  a version other than 1.0 and 1.1
//
// Holds at most one request, and one read's worth of what follows it.
class HttpRequestReader {
 public:
  enum class Step {
    kNeedMore,  // no further without more bytes
    kHead,      // once per request: head() is known; Advance again for the body
    kComplete,  // Take it
    kRefused,   // see refusal(); whatever follows cannot be understood any more
  };

  // `peer` goes into every request.
  explicit HttpRequestReader(HttpReadLimits limits, std::string peer = "");
  ~HttpRequestReader();

  // Where the next bytes belong: read into Prepare(), then say how many with Commit(). Or Append.
  boost::asio::mutable_buffer Prepare();
  void Commit(std::size_t count) { input_.commit(count); }
  void Append(std::string_view bytes);

  Step Advance();

  // The request at hand, with the body as far as it has come.
  const HttpRequest& head() const { return request_; }
  // The complete request; the next one begins.
  HttpRequest Take();

  const HttpRefusal& refusal() const { return *refusal_; }  // after kRefused

  // From kHead on, until the next request begins.
  bool http_1_0() const { return http_1_0_; }
  bool keep_alive() const { return keep_alive_; }
  bool has_body() const { return has_body_; }
  // The client holds its body back until it reads "100 Continue".
  bool wants_continue() const { return wants_continue_ && input_.size() == 0; }

  // Not a byte of a request is here.
  bool idle() const { return !begun_ && input_.size() == 0; }

  // Forgets everything, to take bytes only to throw them away.
  void Discard();

 private:
  class Parser;

  std::string_view Input() const;
  Step AdvanceHead();
  Step NeedMore();
  Step AdvanceBody();
  Step RefuseHead(std::string_view input, boost::system::error_code error);
  std::optional<HttpRefusal> JudgeHead();
  Step Refuse(unsigned status, std::string reason);
  void SkipEmptyLines();

  const HttpReadLimits limits_;
  const std::string peer_;
  boost::beast::flat_buffer input_;
  std::unique_ptr<Parser> parser_;
  HttpRequest request_;
  std::optional<HttpRefusal> refusal_;
  std::size_t head_bytes_ = 0;  // of this request so far
  bool begun_ = false;          // the parser has seen a byte of it
  bool head_reported_ = false;
  bool http_1_0_ = false;
  bool keep_alive_ = false;
  bool has_body_ = false;
  bool wants_continue_ = false;
};

}  // namespace glovebox

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/buffer.hpp>

#include "transport/http_server.h"

namespace glovebox {

// Bytes on their way to a peer: small pieces share memory, large ones are taken over as they are,
// and many of them leave in one system call. What was freed is used again, so that a connection in
// steady state allocates nothing here.
class OutgoingBytes {
 public:
  void Append(std::string_view bytes);
  void Take(std::string bytes);  // copies only what is small

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The front of the queue, as far as one system call takes it. Valid until the next call of
  // anything else.
  std::span<const boost::asio::const_buffer> Front();
  // `count` bytes of it are written.
  void Consume(std::size_t count);
  void Clear();

 private:
  std::vector<std::string> pieces_;
  std::size_t first_ = 0;             // the pieces before it are gone
  std::size_t written_of_first_ = 0;  // and so much of this one
  std::size_t size_ = 0;
  std::array<boost::asio::const_buffer, 32> front_;
};

// How a response is delimited, and what becomes of its connection.
struct HttpFraming {
  enum class Body { kWhole, kChunked, kUntilClose };
  Body body = Body::kWhole;
  bool http_1_0 = false;    // the client's version
  bool head_only = false;   // the answer to HEAD
  bool keep_alive = false;  // the connection outlives the response
};

// The head of a response, or for kWhole all of it. Content-Length, Transfer-Encoding and Connection
// are written here and are not for the caller. Line ends in a header's value become blanks: nothing
// that was passed in can add a header.
void AppendHttpResponse(HttpResponse response, const HttpFraming& framing, OutgoingBytes& out);

// One chunk; nothing for no bytes, which would end the body.
void AppendHttpChunk(std::string bytes, OutgoingBytes& out);
void AppendHttpLastChunk(OutgoingBytes& out);

}  // namespace glovebox

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "mcp/jsonrpc.h"
#include "mcp/sse_reader.h"
#include "transport/http_client.h"

namespace glovebox::mcp {

// Reads the messages of HTTP responses, whichever form they have: one JSON document, a stream of
// events, or an error's body. One reader serves a response and those that resume its stream.
//
// What it reads is handed to `sink`, which returns false when the reader must stop: it may be gone.
class HttpAnswerReader {
 public:
  using Sink = std::function<bool(Message message)>;

  explicit HttpAnswerReader(const ParseLimits& limits)
      : limits_(limits), events_(limits.bytes_max) {}

  // The head of a response. An error when no messages can follow: the status is no success, or the
  // content is neither JSON nor a stream. The rest of an error response is kept, see error_body.
  Status Begin(const HttpResponseHead& head);
  // kLimit when a message or an event is too long.
  Status Append(std::string_view piece, const Sink& sink);
  // The response is complete: hands out what a JSON document holds.
  void Finish(const Sink& sink);

  unsigned status() const { return status_; }
  bool is_stream() const { return form_ == Form::kStream; }
  // Of a response that is no success: the start of what it says.
  const std::string& error_body() const { return body_; }
  bool has_enough() const { return body_.size() >= kErrorBodyBytesMax && form_ == Form::kError; }
  // The JSON-RPC error in it, if that is what it is.
  std::optional<RpcError> error_answer() const;

  const std::string& last_event_id() const { return events_.last_event_id(); }
  const std::optional<std::chrono::milliseconds>& retry() const { return events_.retry(); }
  bool has_event() const { return has_event_; }  // since Begin

 private:
  enum class Form : std::uint8_t { kNothing, kDocument, kStream, kError };

  bool Deliver(std::string_view text, const Sink& sink) const;

  static constexpr std::size_t kErrorBodyBytesMax = 64u << 10;

  const ParseLimits limits_;
  Form form_ = Form::kNothing;
  unsigned status_ = 0;
  std::string body_;
  SseReader events_;
  bool has_event_ = false;
};

}  // namespace glovebox::mcp

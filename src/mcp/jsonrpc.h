#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"

namespace glovebox::mcp {

// JSON-RPC 2.0: messages as typed values, from and to text.

// The codes of the standard. MCP adds others per revision; nothing of ours uses the range that is
// free for implementations (-32000..-32019), because receivers may give it no meaning.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

// Integer or string, and the two never equal: 1 is not "1".
using RequestId = std::variant<std::int64_t, std::string>;

struct RpcError {
  int code = kInternalError;
  std::string message;
  std::optional<boost::json::value> data = std::nullopt;
  // Set when the request would be taken later. HTTP says so in its own words as well.
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
};

// The one place where our errors get a JSON-RPC code.
RpcError ToRpcError(const Error& error);

// A peer's error object; what is missing or of the wrong type stays as it is by default.
RpcError RpcErrorFromJson(const boost::json::value& error);

struct Request {
  RequestId id;
  std::string method;
  boost::json::object params;  // empty when the message had none
};

struct Notification {
  std::string method;
  boost::json::object params;
};

// An answer to a request of ours.
struct Response {
  RequestId id;
  std::variant<boost::json::value, RpcError> outcome;
};

// Something that is none of the above, and what to tell the sender. `id` when it could be read.
struct InvalidMessage {
  std::optional<RequestId> id;
  RpcError error;
};

using Message = std::variant<Request, Notification, Response, InvalidMessage>;
using Batch = std::vector<Message>;  // never empty

// Bounds on what a peer may send. They hold memory and stack, whatever the bytes are.
struct ParseLimits {
  std::size_t bytes_max = 16u << 20;
  std::size_t depth_max = 64;
  std::size_t values_max = 1'000'000;  // keys and values together
  std::size_t batch_max = 64;
};

// Reads one message, or one batch, from bytes nobody has looked at. Never fails: bad input is an
// InvalidMessage. Refused besides broken JSON: invalid UTF-8, a key twice in one object (peers
// disagree on which counts), ids that are neither string nor 64-bit integer, params that are no
// object. Integers beyond 64 bits arrive as doubles.
std::variant<Message, Batch> ParseMessage(std::string_view text, const ParseLimits& limits = {});

boost::json::object ResultMessage(const RequestId& id, boost::json::object result);
// Without an id the message carries null: we could not tell which request it answers.
boost::json::object ErrorMessage(const std::optional<RequestId>& id, const RpcError& error);
boost::json::object RequestMessage(const RequestId& id, std::string_view method,
                                   boost::json::object params);
boost::json::object NotificationMessage(std::string_view method, boost::json::object params);

boost::json::value ToJson(const RequestId& id);
std::optional<RequestId> RequestIdFromJson(const boost::json::value& value);
std::string ToText(const RequestId& id);  // for messages to people: 7, "seven"

}  // namespace glovebox::mcp

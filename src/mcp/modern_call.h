#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "mcp/jsonrpc.h"
#include "mcp/lifecycle_messages.h"
#include "mcp/modern_names.h"
#include "mcp/pending_call.h"

namespace glovebox::mcp {

// The modern era, request by request: each one carries an envelope in `params._meta`.

struct Envelope {
  std::string version;  // as claimed; may be one we do not serve
  ClientCapabilities capabilities;
  Implementation client_info;
  std::optional<LogLevel> log_level;
  RequestMeta meta;
};

// Whether the request claims to be modern: it has the version key, whatever its value.
bool ClaimsModern(const boost::json::object& params);
// kInvalidArgument names the key that is missing or wrong.
Result<Envelope> ReadEnvelope(const boost::json::object& params);
// Nothing when the version is served; else -32022 with what is.
std::optional<RpcError> CheckVersion(const Envelope& envelope);
// -32022 with the versions we serve.
RpcError UnsupportedVersion(std::string_view requested);
// -32021 with what the client would have to declare.
RpcError MissingCapability(boost::json::object capabilities);

// Starts a request whose envelope is in order. Always answers through `sink` (an unknown method
// with -32601, one over its share with RpcError::retry_after set); returns the call, which may
// already be finished, or null when no handler ran.
std::shared_ptr<PendingCall> StartModernCall(Server& server, Request request, Envelope envelope,
                                             const std::string& principal,
                                             std::shared_ptr<MessageSink> sink,
                                             std::function<void(PendingCall&)> finished);

}  // namespace glovebox::mcp

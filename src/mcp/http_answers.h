#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "mcp/jsonrpc.h"
#include "mcp/version.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// Whole responses, and what a request's head says about content.

// A refusal that concerns HTTP rather than a message: {"error": why}.
HttpResponse Refusal(unsigned status, std::string_view why);
// A JSON-RPC error under a status of the caller's choice.
HttpResponse ErrorResponse(unsigned status, const std::optional<RequestId>& id,
                           const RpcError& error);
// The answer to a request; `error` is what it carries, or null. A refusal that says when to come
// back is 429. Beyond that only the modern era has statuses for errors: 404 for an unknown method,
// 400 for a capability that the client lacks.
HttpResponse AnswerResponse(const boost::json::value& message, const RpcError* error, bool modern);

// "application/json", with any parameters.
bool IsJson(std::string_view content_type);
// Whether the client takes `type` ("text/event-stream"), by name or by wildcard. Without an Accept
// header it takes anything. Weights are not looked at.
bool Accepts(const HttpRequest& head, std::string_view type);

}  // namespace glovebox::mcp

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "mcp/jsonrpc.h"
#include "mcp/tool_registry.h"
#include "transport/http_server.h"

namespace glovebox::mcp {

// Modern requests repeat parts of their body in headers, so that gateways can route without reading
// it. Whoever routes by a header must be able to trust it: a header that says something else than
// the body, or says it twice, is refused with -32020 (kHeaderMismatch).

inline constexpr std::string_view kVersionHeader = "mcp-protocol-version";

// A header that is there and contradicts the body: the version that the envelope claims, then the
// method. Absent ones pass.
std::optional<RpcError> CheckClaims(const HttpRequest& http, const Request& request,
                                    std::string_view claimed_version);

// The headers every request must have, and Mcp-Name where the method has one.
std::optional<RpcError> CheckRequiredHeaders(const HttpRequest& http, const Request& request);

// Mcp-Param-* of a tools/call: each property that the tool wants repeated and that has a value must
// be, and none else. `params` are the request's.
std::optional<RpcError> CheckParameterHeaders(const HttpRequest& http,
                                              const boost::json::object& params,
                                              const ToolRegistry& tools);

// What a header's value stands for: itself, or the bytes in "=?base64?...?=". Nothing when that is
// not strict base64.
std::optional<std::string> DecodeHeaderValue(std::string_view value);

// The other side: the headers that a client's request carries besides its body. Mcp-Name and
// Mcp-Param-* are in base64 where the value is not plain ASCII, has blanks around it, or looks like
// that form already.
HttpHeaders MirroredHeaders(std::string_view version, std::string_view method,
                            const boost::json::object& params);
HttpHeaders ParameterHeaders(const boost::json::object& params,
                             const std::vector<HeaderParameter>& parameters);
std::string EncodeHeaderValue(std::string_view value);

}  // namespace glovebox::mcp

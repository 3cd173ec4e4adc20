#pragma once

#include <string_view>

namespace glovebox::mcp {

// The words of the modern era that both sides use.

inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingClientCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

// Keys of `params._meta`: the envelope of a request.
inline constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kClientInfoKey = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";
// Of a result's `_meta`.
inline constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";

// Whether a request of that method may be answered with questions (`input_required`).
constexpr bool MayAskBack(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

}  // namespace glovebox::mcp

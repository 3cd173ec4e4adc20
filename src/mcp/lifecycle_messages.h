#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"
#include "mcp/content.h"
#include "mcp/jsonrpc.h"
#include "mcp/params.h"
#include "mcp/version.h"

namespace glovebox::mcp {

// Who speaks and how the conversation is kept: handshake, discovery, progress, logs, cancellation.

// A client or a server program.
struct Implementation {
  std::string name;
  std::string title;  // for people; may be empty
  std::string version;
  std::string website_url;
  std::vector<Icon> icons;
};

// Only for logs and displays: a missing or odd field is left empty.
Implementation ImplementationFromJson(const boost::json::object& object);

inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

// What a client can be asked for. From `initialize`, or from each modern request.
struct ClientCapabilities {
  bool sampling = false;
  bool roots = false;
  bool elicitation_form = false;  // `elicitation: {}` means this one
  bool elicitation_url = false;
  bool tasks = false;  // the extension of that name
};
// Unknown members are ignored; a member of the wrong type is an error.
Result<ClientCapabilities> ClientCapabilitiesFromJson(const boost::json::object& capabilities);

struct InitializeParams {
  std::string protocol_version;  // as asked for; may be one we do not know
  Implementation client_info;
  ClientCapabilities capabilities;
};
struct InitializeResult {
  ProtocolVersion protocol_version = kNewestLegacyVersion;
  boost::json::object capabilities;
  Implementation server_info;
  std::string instructions;  // for the model; may be empty
};

// How long a client may reuse an answer, and for whom. Written in the modern era only.
struct CacheHint {
  std::int64_t ttl_ms = 0;
  bool is_public = false;  // the same for every caller
};

struct DiscoverResult {
  std::vector<ProtocolVersion> supported_versions;
  boost::json::object capabilities;
  std::string instructions;
  CacheHint cache;
};

// An identifier the client chose for progress reports. The same shape as a request id.
using ProgressToken = RequestId;

enum class LogLevel : std::uint8_t {
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency
};
std::string_view LogLevelName(LogLevel level);
std::optional<LogLevel> LogLevelFromName(std::string_view name);

// The part of any request's params that belongs to the protocol, not to the method.
struct RequestMeta {
  std::optional<ProgressToken> progress_token;
};

struct Progress {
  double progress = 0;  // must grow from one report to the next
  std::optional<double> total;
  std::string message;
};

struct LogMessage {
  LogLevel level = LogLevel::kInfo;
  std::string logger;  // may be empty
  boost::json::value data;
};

struct SetLevelParams {
  LogLevel level = LogLevel::kInfo;
};

struct CancelledParams {
  RequestId request_id;
  std::string reason;
};

template <>
Result<RequestMeta> ParamsFromJson(const boost::json::object& params);
template <>
Result<InitializeParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<SetLevelParams> ParamsFromJson(const boost::json::object& params);
template <>
Result<CancelledParams> ParamsFromJson(const boost::json::object& params);

boost::json::object ToJson(const Implementation& implementation, ProtocolVersion version);
boost::json::object ToJson(const InitializeResult& result, ProtocolVersion version);
boost::json::object ToJson(const DiscoverResult& result, ProtocolVersion version);
boost::json::object ToJson(const Progress& progress, const ProgressToken& token,
                           ProtocolVersion version);
boost::json::object ToJson(const LogMessage& message, ProtocolVersion version);
// Writes ttlMs and cacheScope where the revision has them.
void AddCacheHint(boost::json::object& result, const CacheHint& cache, ProtocolVersion version);

}  // namespace glovebox::mcp
